public import FoundationEssentials
public import HTTPTypes

/// The body as JSON of any shape.
public struct JSONResponseSerializer: ResponseSerializer {
  public let dataPreprocessor: any DataPreprocessor
  public let emptyResponseCodes: Set<Int>
  public let emptyRequestMethods: Set<HTTPRequest.Method>

  /// The defaults are Alamofire's: empty for 204, 205 and HEAD.
  public init(
    dataPreprocessor: any DataPreprocessor = JSONResponseSerializer.defaultDataPreprocessor,
    emptyResponseCodes: Set<Int> = JSONResponseSerializer.defaultEmptyResponseCodes,
    emptyRequestMethods: Set<HTTPRequest.Method> = JSONResponseSerializer.defaultEmptyRequestMethods
  ) {
    self.dataPreprocessor = dataPreprocessor
    self.emptyResponseCodes = emptyResponseCodes
    self.emptyRequestMethods = emptyRequestMethods
  }

  /// An empty response that is allowed becomes `.null`.
  public func serialize(
    request: TransferRequest?, response: ResponseHead?, data: Data?, error: TransferError?
  ) throws(TransferError) -> JSONValue {
    guard let data = try content(request, response, data, error) else { return .null }
    do {
      return try JSONDecoder().decode(JSONValue.self, from: data)
    } catch {
      throw .serialization(.jsonSerializationFailed(error: error))
    }
  }
}
