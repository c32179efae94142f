public import FoundationEssentials
public import HTTPTypes

/// The body as a `Decodable` value.
public struct DecodableResponseSerializer<T: Decodable & Sendable>: ResponseSerializer {
  public let dataPreprocessor: any DataPreprocessor
  /// The decoder; used on one of Swift's threads.
  public let decoder: any DataDecoder
  public let emptyResponseCodes: Set<Int>
  public let emptyRequestMethods: Set<HTTPRequest.Method>

  /// The defaults are Alamofire's: a plain `JSONDecoder`, empty for 204, 205 and HEAD.
  public init(
    dataPreprocessor: any DataPreprocessor = DecodableResponseSerializer.defaultDataPreprocessor,
    decoder: any DataDecoder = JSONDecoder(),
    emptyResponseCodes: Set<Int> = DecodableResponseSerializer.defaultEmptyResponseCodes,
    emptyRequestMethods: Set<HTTPRequest.Method> = DecodableResponseSerializer.defaultEmptyRequestMethods
  ) {
    self.dataPreprocessor = dataPreprocessor
    self.decoder = decoder
    self.emptyResponseCodes = emptyResponseCodes
    self.emptyRequestMethods = emptyRequestMethods
  }

  public func serialize(
    request: TransferRequest?, response: ResponseHead?, data: Data?, error: TransferError?
  ) throws(TransferError) -> T {
    guard let data = try content(request, response, data, error) else {
      guard let type = T.self as? any EmptyResponse.Type, let value = type.emptyValue() as? T else {
        throw .serialization(.invalidEmptyResponse(type: "\(T.self)"))
      }
      return value
    }
    do {
      return try decoder.decode(T.self, from: data)
    } catch {
      throw .serialization(.decodingFailed(error: error))
    }
  }
}
