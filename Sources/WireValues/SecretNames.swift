/// Decides by name which header fields and parameters are secret. All output uses this list: logs, curl commands, job
/// lists, events and exports.
///
/// Names are normalised as the server reads them: percent-decoded, lowercase, without punctuation. So `%74oken` matches
/// `token`, and `API-Key` and `api_key` match `apikey`.
public enum SecretNames {
  /// The text that replaces a secret in output.
  public static let mark = "***"

  /// A name is secret if it contains one of these words.
  private static let words = [
    "accesskey", "apikey", "bearer", "cookie", "credential", "csrf", "jwt", "keypairid", "passphrase", "passwd",
    "password", "private", "saml", "secret", "session", "signature", "token", "xsrf",
  ]

  /// A parameter is secret if its whole name is one of these.
  private static let parameters: Set<String> = [
    "code", "hmac", "key", "otp", "pass", "pin", "policy", "pw", "pwd", "sid", "sig",
  ]

  /// Fields that contain one of the words but no secret (RFC 9110 §11.6.1, §11.7.1; the Idempotency-Key draft; RFC 6455
  /// §11.3).
  private static let harmlessFields: Set<String> = [
    "www-authenticate", "proxy-authenticate", "idempotency-key", "sec-websocket-key",
  ]

  /// Whether a header field's value is a secret. The comparison ignores case.
  public static func isSecret(field name: String) -> Bool {
    let name = name.lowercased()
    guard !harmlessFields.contains(name) else { return false }
    return name.hasSuffix("-key") || isSecret(parameter: name)
  }

  /// Whether the value of a query item, a form's field or a JSON member is a secret.
  public static func isSecret(parameter name: String) -> Bool {
    let plain = plain(name)
    // `author` is not `authorization`.
    if plain.contains("auth"), !plain.contains("author") || plain.contains("authoriz") { return true }
    return parameters.contains(plain) || words.contains { plain.contains($0) }
  }

  /// `name=value&…` with `***` in place of secret values. Old programs separate items with `;`, so it is accepted too.
  public static func redacted(pairs text: some StringProtocol) -> String {
    var shown: [Substring] = []
    var rest = Substring(text)
    while true {
      let item = rest.prefix(upToASCII: "&;")
      if let equals = item.firstIndex(ofASCII: "="), isSecret(parameter: String(item[..<equals])) {
        shown += [item[..<equals], "=", Substring(mark)]
      } else {
        shown.append(item)
      }
      guard item.endIndex < rest.endIndex else { return shown.joined() }
      let separator = rest.utf8[item.endIndex]
      shown.append(separator == UInt8(ascii: "&") ? "&" : ";")
      rest = rest.suffix(after: item.endIndex)
    }
  }

  /// The normalised name. It is percent-decoded up to three times, because chained servers may each decode once.
  private static func plain(_ name: String) -> String {
    var bytes = Array(name.utf8)
    for _ in 0..<3 where bytes.contains(UInt8(ascii: "%")) {
      bytes = PercentEscapes.decoded(bytes, keepsInvalid: true) ?? bytes
    }
    return String(decoding: bytes, as: UTF8.self).lowercased().filter { $0.isLetter || $0.isNumber }
  }
}
