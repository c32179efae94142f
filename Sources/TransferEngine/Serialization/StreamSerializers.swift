public import FoundationEssentials

/// Turns the pieces of a stream into values, each piece by itself.
public protocol DataStreamSerializer<SerializedObject>: Sendable {
  /// What it makes of a piece.
  associatedtype SerializedObject: Sendable

  /// Makes a value of a piece. What it throws is passed on as the piece's failure.
  func serialize(_ data: Data) throws -> SerializedObject
}

/// Each piece as it came.
public struct PassthroughStreamSerializer: DataStreamSerializer {
  /// Passes pieces on as they are.
  public init() {}

  /// Returns the piece.
  public func serialize(_ data: Data) throws -> Data { data }
}

/// Each piece as UTF-8 text. A character that two pieces share is repaired to U+FFFD in both; `UTF8Assembler` keeps it
/// whole.
public struct StringStreamSerializer: DataStreamSerializer {
  /// Decodes UTF-8.
  public init() {}

  /// Returns the piece as text; bytes that are no UTF-8 become U+FFFD.
  public func serialize(_ data: Data) throws -> String { String(decoding: data, as: UTF8.self) }
}

/// Each piece as a `Decodable`: for servers that send one whole document a piece.
public struct DecodableStreamSerializer<T: Decodable & Sendable>: DataStreamSerializer {
  /// What decodes each piece.
  public let decoder: any DataDecoder
  /// What is done with a piece before.
  public let dataPreprocessor: any DataPreprocessor

  /// Decodes each piece as one value.
  public init(
    decoder: any DataDecoder = JSONDecoder(), dataPreprocessor: any DataPreprocessor = PassthroughPreprocessor()
  ) {
    self.decoder = decoder
    self.dataPreprocessor = dataPreprocessor
  }

  /// Decodes one piece.
  public func serialize(_ data: Data) throws -> T {
    let data = try dataPreprocessor.preprocess(data)
    do {
      return try decoder.decode(T.self, from: data)
    } catch {
      throw TransferError.serialization(.decodingFailed(error: error))
    }
  }
}

extension DataStreamSerializer where Self == PassthroughStreamSerializer {
  /// Pieces as they come.
  public static var passthrough: PassthroughStreamSerializer { PassthroughStreamSerializer() }
}

extension DataStreamSerializer where Self == StringStreamSerializer {
  /// Pieces as text.
  public static var string: StringStreamSerializer { StringStreamSerializer() }
}

/// UTF-8 text from pieces that may end within a character: the unfinished tail, three bytes at most, waits for the next.
public struct UTF8Assembler: Sendable {
  private var tail: [UInt8] = []

  /// Nothing taken yet.
  public init() {}

  /// The text that is complete by now. What is not UTF-8 is repaired to U+FFFD.
  public mutating func append(_ data: Data) -> String {
    var bytes = tail
    bytes.append(contentsOf: data)
    let cut = bytes.count - Self.unfinished(bytes)
    tail = Array(bytes[cut...])
    return String(decoding: bytes[..<cut], as: UTF8.self)
  }

  /// What was left at the end, repaired.
  public mutating func finish() -> String {
    defer { tail = [] }
    return String(decoding: tail, as: UTF8.self)
  }

  /// Bytes at the end that begin a character and do not end it.
  private static func unfinished(_ bytes: [UInt8]) -> Int {
    for back in 1...4 where back <= bytes.count {
      let byte = bytes[bytes.count - back]
      if byte & 0xC0 == 0x80 { continue }
      let length = byte >= 0xF0 ? 4 : byte >= 0xE0 ? 3 : byte >= 0xC0 ? 2 : 1
      return length > back && back < 4 ? back : 0
    }
    return 0
  }
}
