import HTTPTypes
import WireValues

/// Removes secrets from text that is shown: the values of fields and parameters with secret names.
enum Redaction {
  static let mark = SecretNames.mark

  static func isSecret(field name: String) -> Bool { SecretNames.isSecret(field: name) }

  static func isSecret(parameter name: String) -> Bool { SecretNames.isSecret(parameter: name) }

  /// A field's value as it may be shown. The scheme of an Authorization and the names of cookies remain.
  static func value(of field: HTTPField) -> String {
    let name = field.name.canonicalName
    guard isSecret(field: name) else { return field.value }
    if name == "cookie" {
      return field.value.split(atASCII: ";").map { cookie in
        cookie.prefix(upToASCII: "=").trimmingBlanks() + "=" + mark
      }.joined(separator: "; ")
    }
    if name == "authorization" || name == "proxy-authorization", let blank = field.value.firstIndex(ofASCII: " ") {
      return "\(field.value[..<blank]) \(mark)"
    }
    return mark
  }

  /// Without userinfo, and without the values of secret parameters.
  static func url(_ url: RequestURL) -> String {
    guard let mark = url.string.firstIndex(ofASCII: "?") else { return url.string }
    return url.string[..<mark] + "?" + pairs(String(url.string.suffix(after: mark)))
  }

  /// `name=value&…` without the values of secret names.
  static func pairs(_ query: String) -> String { SecretNames.redacted(pairs: query) }

  /// Without the values of members with secret names.
  static func json(_ value: JSONValue) -> JSONValue {
    switch value {
    case .object(let members):
      .object(
        Dictionary(
          // checked: the keys are those of a dictionary
          uniqueKeysWithValues: members.map { ($0.key, isSecret(parameter: $0.key) ? .string(mark) : json($0.value)) }))
    case .array(let items): .array(items.map(json))
    default: value
    }
  }
}
