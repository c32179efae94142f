public import FoundationEssentials

/// Each piece as a `Decodable`, for servers that send one document in each piece.
public struct DecodableStreamSerializer<T: Decodable & Sendable>: DataStreamSerializer {
  /// The decoder.
  public let decoder: any DataDecoder
  /// Changes a piece before it is decoded.
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
