import FoundationEssentials

/// A value's fields in the URL's query or in a body of type `application/x-www-form-urlencoded; charset=utf-8`.
public struct URLEncodedFormParameterEncoder: ParameterEncoder {
  /// Where encoded parameters go: into the query or the body.
  public typealias Destination = URLEncoding.Destination

  /// Into the query for GET, HEAD and DELETE, into the body otherwise, with a plain encoder.
  public static var `default`: URLEncodedFormParameterEncoder { URLEncodedFormParameterEncoder() }

  /// Encodes the value as `name=value&…`.
  public let encoder: URLEncodedFormEncoder
  /// Where the text goes.
  public let destination: Destination

  /// Encodes with this encoder to this destination.
  public init(encoder: URLEncodedFormEncoder = URLEncodedFormEncoder(), destination: Destination = .methodDependent) {
    self.encoder = encoder
    self.destination = destination
  }

  /// Appends to an existing query. Sets Content-Type for a body, unless the request has one.
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
