public import FoundationEssentials

/// A value as a property list. Content-Type is `application/x-plist` unless the request has one.
public struct PropertyListParameterEncoder: ParameterEncoder {
  /// XML, Alamofire's default.
  public static var `default`: PropertyListParameterEncoder { xml }

  /// The XML form.
  public static var xml: PropertyListParameterEncoder {
    let encoder = PropertyListEncoder()
    encoder.outputFormat = .xml
    return PropertyListParameterEncoder(encoder: encoder)
  }

  /// The binary form.
  public static var binary: PropertyListParameterEncoder {
    let encoder = PropertyListEncoder()
    encoder.outputFormat = .binary
    return PropertyListParameterEncoder(encoder: encoder)
  }

  /// The encoder; used on the thread that prepares the request.
  public let encoder: PropertyListEncoder

  /// Encodes with this encoder, and sets `Content-Type: application/x-plist` unless the request has a type.
  public init(encoder: PropertyListEncoder) { self.encoder = encoder }

  public func encode<Parameters: Encodable & Sendable>(
    _ parameters: Parameters?, into request: TransferRequest
  ) throws(TransferError) -> TransferRequest {
    guard let parameters else { return request }
    var request = request
    do {
      request.setBody(try encoder.encode(parameters), type: MediaTypes.propertyList)
    } catch {
      throw .parameters(.propertyListEncodingFailed(error: error))
    }
    return request
  }
}
