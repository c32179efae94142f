public import FoundationEssentials
public import HTTPTypes

/// Turns what a data request brought into a value. Called once, after validation, never on the transfer loop's thread.
public protocol DataResponseSerializerProtocol<SerializedObject>: Sendable {
  /// What it makes of an answer.
  associatedtype SerializedObject: Sendable

  /// - Parameters:
  ///   - request: what was sent, adapted; `nil` where nothing was.
  ///   - response: the final head.
  ///   - data: the body; `nil` where there was none.
  ///   - error: what failed before. A serializer throws it on.
  /// - Throws: anything; what is no `TransferError` becomes `.serialization(.customSerializationFailed)`.
  func serialize(
    request: TransferRequest?, response: ResponseHead?, data: Data?, error: TransferError?
  ) throws -> SerializedObject
}

/// Turns a downloaded file into a value.
public protocol DownloadResponseSerializerProtocol<SerializedObject>: Sendable {
  /// What it makes of a file.
  associatedtype SerializedObject: Sendable

  /// - Parameter fileURL: the finished file; `nil` where there is none.
  /// - Parameter request: what was sent last; `nil` where nothing was.
  /// - Parameter response: the answer's head; `nil` where there is none.
  func serializeDownload(
    request: TransferRequest?, response: ResponseHead?, fileURL: URL?, error: TransferError?
  ) throws -> SerializedObject
}

/// Both, with the rules about empty answers. A conforming type writes `serialize` only.
public protocol ResponseSerializer<SerializedObject>: DataResponseSerializerProtocol,
  DownloadResponseSerializerProtocol
{
  /// Changes the bytes before they are read.
  var dataPreprocessor: any DataPreprocessor { get }
  /// Methods whose answers may be empty.
  var emptyRequestMethods: Set<HTTPRequest.Method> { get }
  /// Statuses whose answers may be empty.
  var emptyResponseCodes: Set<Int> { get }
}

extension ResponseSerializer {
  /// Passes the body on as it is.
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

  /// Whether the method or the status allows it.
  public func emptyResponseAllowed(forRequest request: TransferRequest?, response: ResponseHead?) -> Bool {
    requestAllowsEmptyResponseData(request) == true || responseAllowsEmptyResponseData(response) == true
  }

  /// The bytes to read, preprocessed; `nil` where there are none and that is allowed.
  /// - Throws: `error` where it is given; `.inputDataNilOrZeroLength` where an empty body is not allowed.
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

extension DownloadResponseSerializerProtocol where Self: DataResponseSerializerProtocol {
  /// Reads the whole file into memory and serializes it like a body.
  public func serializeDownload(
    request: TransferRequest?, response: ResponseHead?, fileURL: URL?, error: TransferError?
  ) throws -> SerializedObject {
    if let error { throw error }
    guard let fileURL else { throw TransferError.serialization(.inputFileNil) }
    let data: Data
    do {
      data = try Data(contentsOf: fileURL)
    } catch {
      throw TransferError.serialization(.inputFileReadFailed(at: fileURL.path, reason: "\(error)"))
    }
    return try serialize(request: request, response: response, data: data, error: nil)
  }
}

/// A type with a value for an empty answer.
public protocol EmptyResponse: Sendable {
  /// The value that stands for an empty body.
  static func emptyValue() -> Self
}

/// What an empty answer decodes to: `serializingDecodable(Empty.self)`.
public struct Empty: Codable, Sendable, EmptyResponse, Equatable {
  /// The one value of the type.
  public static let value = Empty()

  /// The one value of the type.
  public init() {}

  /// The one value of the type.
  public static func emptyValue() -> Empty { value }
}

/// Changes a body before a serializer reads it.
public protocol DataPreprocessor: Sendable {
  /// Returns what is to be serialized. What it throws fails the request.
  func preprocess(_ data: Data) throws -> Data
}

/// Changes nothing.
public struct PassthroughPreprocessor: DataPreprocessor {
  /// Changes nothing.
  public init() {}

  /// Returns the bytes as they came.
  public func preprocess(_ data: Data) throws -> Data { data }
}

/// Takes away the `)]}',` and line feed that some servers put before JSON, so that a browser does not run it as a script.
public struct GoogleXSSIPreprocessor: DataPreprocessor {
  /// Takes the prefix `)]}',` and its line end away.
  public init() {}

  /// Returns the bytes without the prefix, or as they came where it is not there.
  public func preprocess(_ data: Data) throws -> Data {
    data.starts(with: Data(")]}',\n".utf8)) ? Data(data.dropFirst(6)) : data
  }
}

extension DataPreprocessor where Self == PassthroughPreprocessor {
  /// Changes nothing.
  public static var passthrough: PassthroughPreprocessor { PassthroughPreprocessor() }
}

extension DataPreprocessor where Self == GoogleXSSIPreprocessor {
  /// Takes Google's prefix away.
  public static var googleXSSI: GoogleXSSIPreprocessor { GoogleXSSIPreprocessor() }
}
