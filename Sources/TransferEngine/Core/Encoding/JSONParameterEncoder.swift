public import FoundationEssentials

/// A value as a JSON body. Content-Type is `application/json` unless the request has one.
public struct JSONParameterEncoder: ParameterEncoder {
  /// Encodes with a plain `JSONEncoder`.
  public static var `default`: JSONParameterEncoder { JSONParameterEncoder() }

  /// With line ends and indentation.
  public static var prettyPrinted: JSONParameterEncoder {
    let encoder = JSONEncoder()
    encoder.outputFormatting = .prettyPrinted
    return JSONParameterEncoder(encoder: encoder)
  }

  /// Keys sorted, so that equal values become equal bytes.
  public static var sortedKeys: JSONParameterEncoder {
    let encoder = JSONEncoder()
    encoder.outputFormatting = .sortedKeys
    return JSONParameterEncoder(encoder: encoder)
  }

  /// The encoder; used on the thread that prepares the request.
  public let encoder: JSONEncoder

  /// Encodes with this encoder, and sets `Content-Type: application/json` unless the request has a type.
  public init(encoder: JSONEncoder = JSONEncoder()) { self.encoder = encoder }

  public func encode<Parameters: Encodable & Sendable>(
    _ parameters: Parameters?, into request: TransferRequest
  ) throws(TransferError) -> TransferRequest {
    guard let parameters else { return request }
    var request = request
    do {
      request.setBody(try encoder.encode(parameters), type: MediaTypes.json)
    } catch {
      throw .parameters(.jsonEncodingFailed(error: error))
    }
    return request
  }
}
