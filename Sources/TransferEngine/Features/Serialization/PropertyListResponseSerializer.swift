public import FoundationEssentials
public import HTTPTypes

/// The body as a property list of any shape, XML or binary.
public struct PropertyListResponseSerializer: ResponseSerializer {
  public let dataPreprocessor: any DataPreprocessor
  public let emptyResponseCodes: Set<Int>
  public let emptyRequestMethods: Set<HTTPRequest.Method>

  /// The defaults are Alamofire's: empty for 204, 205 and HEAD.
  public init(
    dataPreprocessor: any DataPreprocessor = PropertyListResponseSerializer.defaultDataPreprocessor,
    emptyResponseCodes: Set<Int> = PropertyListResponseSerializer.defaultEmptyResponseCodes,
    emptyRequestMethods: Set<HTTPRequest.Method> = PropertyListResponseSerializer.defaultEmptyRequestMethods
  ) {
    self.dataPreprocessor = dataPreprocessor
    self.emptyResponseCodes = emptyResponseCodes
    self.emptyRequestMethods = emptyRequestMethods
  }

  /// An empty response that is allowed becomes an empty dictionary: property lists have no null.
  public func serialize(
    request: TransferRequest?, response: ResponseHead?, data: Data?, error: TransferError?
  ) throws(TransferError) -> PropertyListValue {
    guard let data = try content(request, response, data, error) else { return .dictionary([:]) }
    do {
      return try PropertyListDecoder().decode(PropertyListValue.self, from: data)
    } catch {
      throw .serialization(.propertyListSerializationFailed(error: error))
    }
  }
}
