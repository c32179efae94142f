public import HTTPTypes

/// The header fields of a request or a response: swift-http-types' ordered fields, with Alamofire's names beside its own.
///
/// Names are compared without regard to case. A literal has typed names, `[.accept: "text/html"]`; for names that are
/// strings use `HTTPHeaders(["X-Trace": "1"])`. A name that is not a token (RFC 9110 §5.1) cannot be sent: `add` and
/// `update` leave it out and return false.
public typealias HTTPHeaders = HTTPFields

/// Alamofire's name for swift-http-types' method.
public typealias HTTPMethod = HTTPRequest.Method

extension HTTPFields {
  /// The fields that a session sends by default: the engine's User-Agent, and `Accept: */*`.
  public static var `default`: HTTPHeaders { HTTPHeaders([.defaultUserAgent, .accept("*/*")]) }

  /// Fields by name. If two names differ only in case, the value of the one that sorts last is used.
  public init(_ dictionary: [String: String]) {
    self.init(dictionary.sorted { $0.key < $1.key }.map { HTTPHeader(name: $0.key, value: $0.value) })
  }

  /// These fields; a later one replaces an earlier one of the same name.
  public init(_ headers: [HTTPHeader]) {
    self.init()
    for header in headers { update(header) }
  }

  /// Sets a field; replaces all fields of that name.
  /// - Returns: false if the name is not a token; nothing changes then.
  @discardableResult public mutating func add(name: String, value: String) -> Bool { update(name: name, value: value) }

  /// Sets a field; replaces all fields of that name.
  /// - Returns: false if the name is not a token; nothing changes then.
  @discardableResult public mutating func add(_ header: HTTPHeader) -> Bool { update(header) }

  /// Sets a field; replaces all fields of that name.
  /// - Returns: false if the name is not a token; nothing changes then.
  @discardableResult public mutating func update(_ header: HTTPHeader) -> Bool {
    update(name: header.name, value: header.value)
  }

  /// Sets a field; replaces all fields of that name.
  /// - Returns: false if the name is not a token; nothing changes then.
  @discardableResult public mutating func update(name: String, value: String) -> Bool {
    guard let name = HTTPField.Name(name) else { return false }
    self[name] = value
    return true
  }

  /// Removes all fields of this name.
  public mutating func remove(name: String) {
    guard let name = HTTPField.Name(name) else { return }
    self[fields: name] = []
  }

  /// The value of a field, the values of several joined by commas; `nil` if there is none. Setting `nil` removes the field.
  public subscript(_ name: String) -> String? {
    get { value(for: name) }
    set {
      if let newValue { update(name: name, value: newValue) } else { remove(name: name) }
    }
  }

  /// The value of a field, the values of several joined by commas; `nil` if there is none.
  public func value(for name: String) -> String? { HTTPField.Name(name).flatMap { self[$0] } }

  /// Sorts the fields by name, without regard to case. Fields of the same name keep their order.
  public mutating func sort() { self = sorted() }

  /// The fields sorted by name, without regard to case. Fields of the same name keep their order.
  public func sorted() -> HTTPHeaders {
    HTTPHeaders(
      enumerated().sorted { ($0.element.name.canonicalName, $0.offset) < ($1.element.name.canonicalName, $1.offset) }
        .map(\.element))
  }

  /// The fields by name, as they are spelled; the values of several fields of one name are joined by commas.
  public var dictionary: [String: String] {
    Dictionary(map { ($0.name.rawName, self[$0.name] ?? $0.value) }, uniquingKeysWith: { first, _ in first })
  }
}
