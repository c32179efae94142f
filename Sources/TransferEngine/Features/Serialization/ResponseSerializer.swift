import FoundationEssentials
public import HTTPTypes

/// A serializer for data and download requests, with the rules for empty responses. A conforming type implements only
/// `serialize`.
public protocol ResponseSerializer<SerializedObject>: DataResponseSerializerProtocol,
  DownloadResponseSerializerProtocol
{
  /// Changes the bytes before they are serialized.
  var dataPreprocessor: any DataPreprocessor { get }
  /// Methods whose responses may be empty.
  var emptyRequestMethods: Set<HTTPRequest.Method> { get }
  /// Statuses whose responses may be empty.
  var emptyResponseCodes: Set<Int> { get }
}

extension ResponseSerializer {
  /// Passes the body on unchanged.
  public static var defaultDataPreprocessor: any DataPreprocessor { PassthroughPreprocessor() }
  /// HEAD (RFC 9110 §9.3.2).
  public static var defaultEmptyRequestMethods: Set<HTTPRequest.Method> { [.head] }
  /// 204 and 205 (RFC 9110 §15.3.5, §15.3.6).
  public static var defaultEmptyResponseCodes: Set<Int> { [204, 205] }

  public var dataPreprocessor: any DataPreprocessor { Self.defaultDataPreprocessor }
  public var emptyRequestMethods: Set<HTTPRequest.Method> { Self.defaultEmptyRequestMethods }
  public var emptyResponseCodes: Set<Int> { Self.defaultEmptyResponseCodes }

  /// `nil` without a request.
  public func requestAllowsEmptyResponseData(_ request: TransferRequest?) -> Bool? {
    request.map { emptyRequestMethods.contains($0.method) }
  }

  /// `nil` without a response.
  public func responseAllowsEmptyResponseData(_ response: ResponseHead?) -> Bool? {
    response.map { emptyResponseCodes.contains($0.status) }
  }

  /// Whether the method or the status allows an empty response.
  public func emptyResponseAllowed(forRequest request: TransferRequest?, response: ResponseHead?) -> Bool {
    requestAllowsEmptyResponseData(request) == true || responseAllowsEmptyResponseData(response) == true
  }

  /// The bytes to serialize, preprocessed; `nil` if there are none and that is allowed.
  /// - Throws: `error` if it is not `nil`; `.inputDataNilOrZeroLength` if an empty body is not allowed.
  func content(
    _ request: TransferRequest?, _ response: ResponseHead?, _ data: Data?, _ error: TransferError?
  ) throws(TransferError) -> Data? {
    if let error { throw error }
    guard let data, !data.isEmpty else {
      guard emptyResponseAllowed(forRequest: request, response: response) else {
        throw .serialization(.inputDataNilOrZeroLength)
      }
      return nil
    }
    do {
      return try dataPreprocessor.preprocess(data)
    } catch {
      throw .ofSerializer(error)
    }
  }
}
