public import FoundationEssentials
import HTTPTypes

/// The names of Foundation's `URLRequest`.
extension TransferRequest {
  /// The method's name, such as `GET`. Setting a name that is not a token (RFC 9110 §9.1) changes nothing.
  public var httpMethod: String {
    get { method.rawValue }
    set { method = HTTPMethod(rawValue: newValue) ?? method }
  }

  /// A body in memory; `nil` where there is no body, and for bodies from files, streams and forms.
  public var httpBody: Data? {
    get { if case .data(let data)? = body { data } else { nil } }
    set { body = newValue.map { .data($0) } }
  }

  /// Seconds without progress after which an attempt fails, connecting included; infinite for no limit. Setting it sets
  /// `connectTimeout` and `stallTimeout`; values that are not positive, and NaN, change nothing. `connectTimeout` always has a
  /// limit: an infinite interval leaves it as it is.
  public var timeoutInterval: Double {
    get { stallTimeout.map { $0 / .seconds(1) } ?? .infinity }
    set {
      guard newValue > 0 else { return }
      // Longer than a year is no limit in practice, and more seconds than an Int64 holds would stop the program.
      guard newValue <= 366 * 86_400 else {
        stallTimeout = nil
        return
      }
      stallTimeout = .seconds(newValue)
      connectTimeout = .seconds(newValue)
    }
  }

  /// The header fields by name.
  public var allHTTPHeaderFields: [String: String] { headers.dictionary }

  /// The value of a header field; `nil` if there is none. Names are compared without regard to case.
  public func value(forHTTPHeaderField name: String) -> String? { headers[name] }

  /// Sets a header field; `nil` removes it. A name that is not a token (RFC 9110 §5.1) changes nothing.
  public mutating func setValue(_ value: String?, forHTTPHeaderField name: String) { headers[name] = value }

  /// Adds a value to a header field: after a comma where the field has a value already.
  public mutating func addValue(_ value: String, forHTTPHeaderField name: String) {
    headers[name] = headers[name].map { "\($0),\(value)" } ?? value
  }
}
