public import FoundationEssentials
public import HTTPTypes

/// The body unchanged.
public struct DataResponseSerializer: ResponseSerializer {
  public let dataPreprocessor: any DataPreprocessor
  public let emptyResponseCodes: Set<Int>
  public let emptyRequestMethods: Set<HTTPRequest.Method>

  /// The defaults are Alamofire's: empty for 204, 205 and HEAD.
  public init(
    dataPreprocessor: any DataPreprocessor = DataResponseSerializer.defaultDataPreprocessor,
    emptyResponseCodes: Set<Int> = DataResponseSerializer.defaultEmptyResponseCodes,
    emptyRequestMethods: Set<HTTPRequest.Method> = DataResponseSerializer.defaultEmptyRequestMethods
  ) {
    self.dataPreprocessor = dataPreprocessor
    self.emptyResponseCodes = emptyResponseCodes
    self.emptyRequestMethods = emptyRequestMethods
  }

  public func serialize(
    request: TransferRequest?, response: ResponseHead?, data: Data?, error: TransferError?
  ) throws(TransferError) -> Data {
    try content(request, response, data, error) ?? Data()
  }
}
