public import FoundationEssentials

/// Decodes `Decodable` values from bytes.
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
  /// A `Decodable` with this decoder: `.decodable(of: Repo.self)`.
  public static func decodable<T: Decodable & Sendable>(
    of type: T.Type, decoder: any DataDecoder = JSONDecoder()
  ) -> DecodableResponseSerializer<T> where Self == DecodableResponseSerializer<T> {
    DecodableResponseSerializer<T>(decoder: decoder)
  }
}
