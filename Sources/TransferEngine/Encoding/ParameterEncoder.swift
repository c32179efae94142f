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
  public static var `default`: JSONParameterEncoder { JSONParameterEncoder() }

  public static var prettyPrinted: JSONParameterEncoder {
    let encoder = JSONEncoder()
    encoder.outputFormatting = .prettyPrinted
    return JSONParameterEncoder(encoder: encoder)
  }

  public static var sortedKeys: JSONParameterEncoder {
    let encoder = JSONEncoder()
    encoder.outputFormatting = .sortedKeys
    return JSONParameterEncoder(encoder: encoder)
  }

  public let encoder: JSONEncoder

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
  public static var `default`: PropertyListParameterEncoder { xml }

  public static var xml: PropertyListParameterEncoder {
    let encoder = PropertyListEncoder()
    encoder.outputFormat = .xml
    return PropertyListParameterEncoder(encoder: encoder)
  }

  public static var binary: PropertyListParameterEncoder {
    let encoder = PropertyListEncoder()
    encoder.outputFormat = .binary
    return PropertyListParameterEncoder(encoder: encoder)
  }

  public let encoder: PropertyListEncoder

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
  public typealias Destination = URLEncoding.Destination

  public static var `default`: URLEncodedFormParameterEncoder { URLEncodedFormParameterEncoder() }

  public let encoder: URLEncodedFormEncoder
  public let destination: Destination

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
  public static var json: JSONParameterEncoder { JSONParameterEncoder() }

  public static func json(encoder: JSONEncoder = JSONEncoder()) -> JSONParameterEncoder {
    JSONParameterEncoder(encoder: encoder)
  }
}

extension ParameterEncoder where Self == URLEncodedFormParameterEncoder {
  public static var urlEncodedForm: URLEncodedFormParameterEncoder { URLEncodedFormParameterEncoder() }

  public static func urlEncodedForm(
    encoder: URLEncodedFormEncoder = URLEncodedFormEncoder(),
    destination: URLEncodedFormParameterEncoder.Destination = .methodDependent
  ) -> URLEncodedFormParameterEncoder {
    URLEncodedFormParameterEncoder(encoder: encoder, destination: destination)
  }
}

extension ParameterEncoder where Self == PropertyListParameterEncoder {
  public static var propertyList: PropertyListParameterEncoder { .default }
}
