public import FoundationEssentials
import HTTPTypes

/// Puts an `Encodable` value into a request: Alamofire's `ParameterEncoder`.
public protocol ParameterEncoder: Sendable {
  /// The request with the parameters; unchanged where they are `nil`.
  func encode<Parameters: Encodable & Sendable>(
    _ parameters: Parameters?, into request: TransferRequest
  ) throws -> TransferRequest
}

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

  /// What encodes; used from whatever thread prepares the request.
  public let encoder: JSONEncoder

  /// Encodes with this encoder, and sets `Content-Type: application/json` where the request has none.
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

/// A value as a property list. Content-Type is `application/x-plist` unless the request has one.
public struct PropertyListParameterEncoder: ParameterEncoder {
  /// XML, as Alamofire's default.
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

  /// What encodes; used from whatever thread prepares the request.
  public let encoder: PropertyListEncoder

  /// Encodes with this encoder, and sets `Content-Type: application/x-plist` where the request has none.
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

/// A value's fields in the URL's query or in a body of type `application/x-www-form-urlencoded; charset=utf-8`.
public struct URLEncodedFormParameterEncoder: ParameterEncoder {
  /// Where encoded parameters go: the query or the body.
  public typealias Destination = URLEncoding.Destination

  /// Into the query for GET, HEAD and DELETE, into the body otherwise, with a plain encoder.
  public static var `default`: URLEncodedFormParameterEncoder { URLEncodedFormParameterEncoder() }

  /// What turns the value into `name=value&…`.
  public let encoder: URLEncodedFormEncoder
  /// Where the text goes.
  public let destination: Destination

  /// Encodes with this encoder to this destination.
  public init(encoder: URLEncodedFormEncoder = URLEncodedFormEncoder(), destination: Destination = .methodDependent) {
    self.encoder = encoder
    self.destination = destination
  }

  /// What the URL has as a query stays, before the new names. Content-Type is set for a body unless the request has one.
  public func encode<Parameters: Encodable & Sendable>(
    _ parameters: Parameters?, into request: TransferRequest
  ) throws(TransferError) -> TransferRequest {
    guard let parameters else { return request }
    var request = request
    let query: String
    do {
      query = try encoder.encode(parameters)
    } catch {
      throw error as? TransferError ?? .parameters(.encoderFailed(error: error))
    }
    if destination.encodesParametersInURL(for: request.method) {
      request.url = try request.url.appending(query: query)
    } else {
      request.setBody(Data(query.utf8), type: MediaTypes.form)
    }
    return request
  }
}

extension ParameterEncoder where Self == JSONParameterEncoder {
  /// A plain JSON encoder.
  public static var json: JSONParameterEncoder { JSONParameterEncoder() }

  /// JSON by an encoder of one's own.
  public static func json(encoder: JSONEncoder = JSONEncoder()) -> JSONParameterEncoder {
    JSONParameterEncoder(encoder: encoder)
  }
}

extension ParameterEncoder where Self == URLEncodedFormParameterEncoder {
  /// A plain form encoder, to the destination that the method asks for.
  public static var urlEncodedForm: URLEncodedFormParameterEncoder { URLEncodedFormParameterEncoder() }

  /// A form by an encoder of one's own.
  public static func urlEncodedForm(
    encoder: URLEncodedFormEncoder = URLEncodedFormEncoder(),
    destination: URLEncodedFormParameterEncoder.Destination = .methodDependent
  ) -> URLEncodedFormParameterEncoder {
    URLEncodedFormParameterEncoder(encoder: encoder, destination: destination)
  }
}

extension ParameterEncoder where Self == PropertyListParameterEncoder {
  /// A plain property list encoder, XML.
  public static var propertyList: PropertyListParameterEncoder { .default }
}
