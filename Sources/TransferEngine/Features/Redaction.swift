import HTTPTypes

/// What must not be shown: the values of fields and parameters whose names say that they are secret.
enum Redaction {
  static let mark = "***"

  /// Words that make a name secret wherever they are in it.
  private static let words = [
    "cookie", "token", "secret", "password", "passwd", "passphrase", "apikey", "accesskey", "signature",
    "credential",
    "session", "private", "jwt", "saml", "csrf", "xsrf",
  ]

  /// Names of parameters that are secret as a whole.
  private static let names: Set<String> = [
    "key", "sig", "pwd", "pass", "pw", "code", "pin", "otp", "hmac", "sid", "policy",
  ]

  /// Names of fields that hold one of the words and no secret.
  private static let harmlessFields: Set<String> = ["www-authenticate", "proxy-authenticate", "authority"]

  static func isSecret(field name: String) -> Bool {
    let name = name.lowercased()
    return !harmlessFields.contains(name) && holdsWord(name) || name.hasSuffix("-key")
  }

  static func isSecret(parameter name: String) -> Bool {
    let name = (name.removingPercentEncoding() ?? name).lowercased()
    return names.contains(name) || holdsWord(name)
  }

  private static func holdsWord(_ name: String) -> Bool {
    let plain = name.filter { $0.isLetter || $0.isNumber }
    // An author is no authorization.
    if plain.contains("auth"), !plain.contains("author") || plain.contains("authoriz") { return true }
    return words.contains { plain.contains($0) }
  }

  /// A field's value as it may be shown. Of an Authorization the scheme stays, of cookies the names.
  static func value(of field: HTTPField) -> String {
    let name = field.name.canonicalName
    guard isSecret(field: name) else { return field.value }
    if name == "cookie" {
      return field.value.split(separator: ";").map { cookie in
        cookie.prefix { $0 != "=" }.trimmingBlanks() + "=" + mark
      }.joined(separator: "; ")
    }
    if name == "authorization" || name == "proxy-authorization", let blank = field.value.firstIndex(of: " ") {
      return "\(field.value[..<blank]) \(mark)"
    }
    return mark
  }

  /// Without userinfo, and without the values of secret parameters.
  static func url(_ url: RequestURL) -> String {
    guard let mark = url.string.firstIndex(of: "?") else { return url.string }
    return url.string[...mark] + pairs(String(url.string[url.string.index(after: mark)...]))
  }

  /// `name=value&…` without the values of secret names.
  static func pairs(_ query: String) -> String {
    query.split(separator: "&", omittingEmptySubsequences: false).map { pair in
      guard let equals = pair.firstIndex(of: "="), isSecret(parameter: String(pair[..<equals])) else {
        return String(pair)
      }
      return pair[...equals] + mark
    }.joined(separator: "&")
  }

  /// Without the values of members with secret names.
  static func json(_ value: JSONValue) -> JSONValue {
    switch value {
    case .object(let members):
      .object(
        Dictionary(
          uniqueKeysWithValues: members.map { ($0.key, isSecret(parameter: $0.key) ? .string(mark) : json($0.value)) }))
    case .array(let items): .array(items.map(json))
    default: value
    }
  }
}

extension String {
  /// `nil` where what comes out is no UTF-8.
  func removingPercentEncoding() -> String? {
    String(validating: AWSCanonical.decoded(self), as: UTF8.self)
  }
}
