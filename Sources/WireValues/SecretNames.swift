/// Which header fields and parameters are secrets, by their names. The one list for everything that is shown: logs, curl
/// commands, job lists, events, exports.
///
/// A name is compared as the server will read it: percent-decoded, in lower case, without punctuation. So `%74oken`,
/// `API-Key` and `api_key` are found as `token` and `apikey` are.
public enum SecretNames {
  /// What is shown in the place of a secret.
  public static let mark = "***"

  /// Words that make a name secret wherever they stand in it.
  private static let words = [
    "accesskey", "apikey", "bearer", "cookie", "credential", "csrf", "jwt", "keypairid", "passphrase", "passwd",
    "password", "private", "saml", "secret", "session", "signature", "token", "xsrf",
  ]

  /// Names of parameters that are secret as a whole.
  private static let parameters: Set<String> = [
    "code", "hmac", "key", "otp", "pass", "pin", "policy", "pw", "pwd", "sid", "sig",
  ]

  /// Fields that hold one of the words and no secret (RFC 9110 §11.6.1, §11.7.1; the Idempotency-Key draft; RFC 6455 §11.3).
  private static let harmlessFields: Set<String> = [
    "www-authenticate", "proxy-authenticate", "idempotency-key", "sec-websocket-key",
  ]

  /// Whether a header field's value is a secret. Case does not matter.
  public static func isSecret(field name: String) -> Bool {
    let name = name.lowercased()
    guard !harmlessFields.contains(name) else { return false }
    return name.hasSuffix("-key") || isSecret(parameter: name)
  }

  /// Whether the value of a query item, a form's field or a JSON member is a secret.
  public static func isSecret(parameter name: String) -> Bool {
    let plain = plain(name)
    // An author is no authorization.
    if plain.contains("auth"), !plain.contains("author") || plain.contains("authoriz") { return true }
    return parameters.contains(plain) || words.contains { plain.contains($0) }
  }

  /// `name=value&…` with `***` for the values of secret names. Items may be separated by `;` too, as old programs do.
  public static func redacted(pairs text: some StringProtocol) -> String {
    var shown = ""
    var rest = text[...]
    while true {
      let end = rest.firstIndex { $0 == "&" || $0 == ";" } ?? rest.endIndex
      let item = rest[..<end]
      if let equals = item.firstIndex(of: "="), isSecret(parameter: String(item[..<equals])) {
        shown += item[...equals] + mark
      } else {
        shown += item
      }
      guard end < rest.endIndex else { return shown }
      shown.append(rest[end])
      rest = rest[rest.index(after: end)...]
    }
  }

  /// Decoded until nothing is left to decode, but at most three times: servers behind servers decode more than once.
  private static func plain(_ name: String) -> String {
    var bytes = Array(name.utf8)
    for _ in 0..<3 where bytes.contains(UInt8(ascii: "%")) { bytes = decoded(bytes) }
    return String(decoding: bytes, as: UTF8.self).lowercased().filter { $0.isLetter || $0.isNumber }
  }

  private static func decoded(_ bytes: [UInt8]) -> [UInt8] {
    var plain: [UInt8] = []
    plain.reserveCapacity(bytes.count)
    var rest = bytes[...]
    while let byte = rest.popFirst() {
      if byte == UInt8(ascii: "%"), let high = rest.first.flatMap(digit),
        let low = rest.dropFirst().first.flatMap(digit)
      {
        plain.append(high << 4 | low)
        rest = rest.dropFirst(2)
      } else {
        plain.append(byte)
      }
    }
    return plain
  }

  private static func digit(_ byte: UInt8) -> UInt8? {
    switch byte {
    case UInt8(ascii: "0")...UInt8(ascii: "9"): byte - UInt8(ascii: "0")
    case UInt8(ascii: "A")...UInt8(ascii: "F"): byte - UInt8(ascii: "A") + 10
    case UInt8(ascii: "a")...UInt8(ascii: "f"): byte - UInt8(ascii: "a") + 10
    default: nil
    }
  }
}
