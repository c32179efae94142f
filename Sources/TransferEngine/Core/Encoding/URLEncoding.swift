import FoundationEssentials
import HTTPTypes

/// Names and values in the URL's query or in a body of type `application/x-www-form-urlencoded; charset=utf-8`.
///
/// Arrays become `key[]=a&key[]=b`, nested dictionaries `key[sub]=value`. Keys are sorted, also in nested dictionaries.
/// Everything except letters, digits and `-._~?/` is percent-encoded (RFC 3986). A `nil` is left out. `Data` is written
/// as Base64, and whole floating-point numbers without `.0`.
public struct URLEncoding: ParameterEncoding {
  /// Where the encoded parameters go.
  public enum Destination: Sendable {
    /// Into the query for GET, HEAD and DELETE, into the body for every other method.
    case methodDependent
    /// Always into the query, after an existing one.
    case queryString
    /// Always into the body, as `application/x-www-form-urlencoded; charset=utf-8`.
    case httpBody

    func encodesParametersInURL(for method: HTTPRequest.Method) -> Bool {
      switch self {
      case .methodDependent: [.get, .head, .delete].contains(method)
      case .queryString: true
      case .httpBody: false
      }
    }
  }

  /// How the key of an array's item is written.
  public enum ArrayEncoding: Sendable {
    /// `key[]`
    case brackets
    /// `key`
    case noBrackets
    /// `key[0]`
    case indexInBrackets
    /// The closure makes the item's key from the array's key and the item's index.
    case custom(@Sendable (_ key: String, _ index: Int) -> String)

    func encode(key: String, atIndex index: Int) -> String {
      switch self {
      case .brackets: "\(key)[]"
      case .noBrackets: key
      case .indexInBrackets: "\(key)[\(index)]"
      case .custom(let name): name(key, index)
      }
    }
  }

  /// How a Bool is written.
  public enum BoolEncoding: Sendable {
    /// `1` and `0`
    case numeric
    /// `true` and `false`
    case literal

    func encode(value: Bool) -> String {
      switch self {
      case .numeric: value ? "1" : "0"
      case .literal: value ? "true" : "false"
      }
    }
  }

  /// The query for GET, HEAD and DELETE, otherwise the body.
  public static var `default`: URLEncoding { URLEncoding() }
  /// Always the query.
  public static var queryString: URLEncoding { URLEncoding(destination: .queryString) }
  /// Always the body.
  public static var httpBody: URLEncoding { URLEncoding(destination: .httpBody) }

  /// Where the text goes.
  public let destination: Destination
  /// How the key of an array's item is written.
  public let arrayEncoding: ArrayEncoding
  /// How a Bool is written.
  public let boolEncoding: BoolEncoding

  /// Encodes with these options; the defaults are Alamofire's.
  public init(
    destination: Destination = .methodDependent, arrayEncoding: ArrayEncoding = .brackets,
    boolEncoding: BoolEncoding = .numeric
  ) {
    self.destination = destination
    self.arrayEncoding = arrayEncoding
    self.boolEncoding = boolEncoding
  }

  /// Appends to an existing query. Sets Content-Type for a body, unless the request has one.
  public func encode(
    _ request: TransferRequest, with parameters: Parameters?
  ) throws(TransferError) -> TransferRequest {
    guard let parameters else { return request }
    var request = request
    let query = parameters.sorted { $0.key < $1.key }
      .flatMap { components($0.key, ParameterValue($0.value)) }.map { "\($0)=\($1)" }.joined(separator: "&")
    if destination.encodesParametersInURL(for: request.method) {
      request.url = try request.url.appending(query: query)
    } else {
      request.setBody(Data(query.utf8), type: MediaTypes.form)
    }
    return request
  }

  /// The encoded names and values of one parameter.
  public func queryComponents(fromKey key: String, value: Any) -> [(String, String)] {
    components(key, ParameterValue(value))
  }

  /// Percent-encoded for the name or value of a query.
  public func escape(_ string: String) -> String { string.percentEncoded(allowing: .afURLQueryAllowed) }

  private func components(_ key: String, _ value: ParameterValue) -> [(String, String)] {
    func one(_ text: String) -> [(String, String)] { [(escape(key), escape(text))] }
    switch value {
    case .null: return []
    case .bool(let value): return one(boolEncoding.encode(value: value))
    case .integer(let value): return one("\(value)")
    case .unsigned(let value): return one("\(value)")
    case .float(let value): return one(Self.text(value))
    case .double(let value): return one(Self.text(value))
    case .string(let value), .other(let value, _): return one(value)
    case .date(let value): return one("\(value)")
    case .data(let value): return one(value.base64EncodedString())
    case .array(let items):
      return items.enumerated().flatMap { components(arrayEncoding.encode(key: key, atIndex: $0.offset), $0.element) }
    case .dictionary(let entries):
      return entries.sorted { $0.key < $1.key }.flatMap { components("\(key)[\($0.key)]", $0.value) }
    }
  }

  /// As `NSNumber` is written: `1`, not `1.0`.
  private static func text(_ number: some CustomStringConvertible) -> String {
    let text = number.description
    return text.hasSuffix(".0") ? String(text.dropLast(2)) : text
  }
}
