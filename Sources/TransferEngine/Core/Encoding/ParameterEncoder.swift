public import FoundationEssentials

/// Encodes an `Encodable` value into a request: Alamofire's `ParameterEncoder`.
public protocol ParameterEncoder: Sendable {
  /// Returns the request with the parameters; unchanged if they are `nil`.
  func encode<Parameters: Encodable & Sendable>(
    _ parameters: Parameters?, into request: TransferRequest
  ) throws -> TransferRequest
}

extension ParameterEncoder where Self == JSONParameterEncoder {
  /// A plain JSON encoder.
  public static var json: JSONParameterEncoder { JSONParameterEncoder() }

  /// JSON with a custom encoder.
  public static func json(encoder: JSONEncoder = JSONEncoder()) -> JSONParameterEncoder {
    JSONParameterEncoder(encoder: encoder)
  }
}

extension ParameterEncoder where Self == URLEncodedFormParameterEncoder {
  /// A default form encoder; the method decides between query and body.
  public static var urlEncodedForm: URLEncodedFormParameterEncoder { URLEncodedFormParameterEncoder() }

  /// A form with a custom encoder.
  public static func urlEncodedForm(
    encoder: URLEncodedFormEncoder = URLEncodedFormEncoder(),
    destination: URLEncodedFormParameterEncoder.Destination = .methodDependent
  ) -> URLEncodedFormParameterEncoder {
    URLEncodedFormParameterEncoder(encoder: encoder, destination: destination)
  }
}

extension ParameterEncoder where Self == PropertyListParameterEncoder {
  /// A default property list encoder, XML.
  public static var propertyList: PropertyListParameterEncoder { .default }
}
