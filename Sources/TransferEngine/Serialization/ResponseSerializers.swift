public import FoundationEssentials
public import HTTPTypes

/// The body as it came.
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

/// The body as text. Without an encoding that was asked for, the response's charset decides, and without one ISO-8859-1,
/// except for media types that are UTF-8 by definition (`TextCharset.of`).
public struct StringResponseSerializer: ResponseSerializer {
  public let dataPreprocessor: any DataPreprocessor
  /// The encoding; `nil`: what the response's charset says, else UTF-8.
  public let encoding: String.Encoding?
  public let emptyResponseCodes: Set<Int>
  public let emptyRequestMethods: Set<HTTPRequest.Method>

  /// The defaults are Alamofire's: empty for 204, 205 and HEAD.
  public init(
    dataPreprocessor: any DataPreprocessor = StringResponseSerializer.defaultDataPreprocessor,
    encoding: String.Encoding? = nil,
    emptyResponseCodes: Set<Int> = StringResponseSerializer.defaultEmptyResponseCodes,
    emptyRequestMethods: Set<HTTPRequest.Method> = StringResponseSerializer.defaultEmptyRequestMethods
  ) {
    self.dataPreprocessor = dataPreprocessor
    self.encoding = encoding
    self.emptyResponseCodes = emptyResponseCodes
    self.emptyRequestMethods = emptyRequestMethods
  }

  /// - Throws: `.stringSerializationFailed` for bytes that are no text of the charset, and for a charset that is unknown
  ///   here: text read by a wrong one would be silently spoiled.
  public func serialize(
    request: TransferRequest?, response: ResponseHead?, data: Data?, error: TransferError?
  ) throws(TransferError) -> String {
    guard let data = try content(request, response, data, error) else { return "" }
    let charset = encoding.map(TextCharset.init) ?? response.map(TextCharset.of) ?? TextCharset(.isoLatin1)
    guard let text = charset.decode(data) else {
      throw .serialization(.stringSerializationFailed(encoding: charset.name))
    }
    return text
  }
}

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

  /// An empty answer that is allowed is `.null`.
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

  /// An empty answer that is allowed is an empty dictionary: property lists have no null.
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

/// The body as a `Decodable` value.
public struct DecodableResponseSerializer<T: Decodable & Sendable>: ResponseSerializer {
  public let dataPreprocessor: any DataPreprocessor
  /// What decodes; used on one of Swift's threads.
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

/// Where the downloaded file is; reads nothing of it.
public struct URLResponseSerializer: DownloadResponseSerializerProtocol {
  /// Gives the file's URL.
  public init() {}

  public func serializeDownload(
    request: TransferRequest?, response: ResponseHead?, fileURL: URL?, error: TransferError?
  ) throws(TransferError) -> URL {
    if let error { throw error }
    guard let fileURL else { throw .serialization(.inputFileNil) }
    return fileURL
  }
}

/// What can decode a `Decodable` from bytes.
public protocol DataDecoder: Sendable {
  /// Decodes a value of this type from these bytes.
  func decode<D: Decodable>(_ type: D.Type, from data: Data) throws -> D
}

extension JSONDecoder: DataDecoder {}

extension PropertyListDecoder: DataDecoder {}

extension ResponseSerializer where Self == DataResponseSerializer {
  /// The body's bytes.
  public static var data: DataResponseSerializer { DataResponseSerializer() }
}

extension ResponseSerializer where Self == StringResponseSerializer {
  /// The body as text.
  public static var string: StringResponseSerializer { StringResponseSerializer() }
}

extension ResponseSerializer where Self == JSONResponseSerializer {
  /// The body as JSON of any shape.
  public static var json: JSONResponseSerializer { JSONResponseSerializer() }
}

extension DownloadResponseSerializerProtocol where Self == URLResponseSerializer {
  /// The file's URL.
  public static var url: URLResponseSerializer { URLResponseSerializer() }
}

extension ResponseSerializer {
  /// A `Decodable` by this decoder: `.decodable(of: Repo.self)`.
  public static func decodable<T: Decodable & Sendable>(
    of type: T.Type, decoder: any DataDecoder = JSONDecoder()
  ) -> DecodableResponseSerializer<T> where Self == DecodableResponseSerializer<T> {
    DecodableResponseSerializer<T>(decoder: decoder)
  }
}
