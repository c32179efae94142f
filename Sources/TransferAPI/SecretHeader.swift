/// A header whose value, or the last word of it, is a secret found elsewhere: `Bearer env:TOKEN`, `file:/run/key`.
public struct SecretHeader: Hashable, Sendable, CustomStringConvertible {
  /// The word before the secret, such as `Bearer`; may be empty.
  public var scheme: String
  public var reference: SecretReference

  /// - Throws: `WireError`
  public init(parsing text: String) throws(WireError) {
    let prefixes = ["env:", "file:", "exec:"]
    if !prefixes.contains(where: text.hasPrefix), let blank = text.firstIndex(of: " ") {
      scheme = String(text[..<blank])
      reference = try SecretReference(parsing: String(text[blank...].drop { $0 == " " }))
    } else {
      scheme = ""
      reference = try SecretReference(parsing: text)
    }
    if reference == .netrc { throw WireError("netrc holds user names and passwords, not headers") }
    guard scheme.unicodeScalars.allSatisfy({ $0.value > 0x20 && $0.value < 0x7F }) else {
      throw WireError("the word before a secret has a character that is not allowed")
    }
  }

  public var description: String { scheme.isEmpty ? reference.description : "\(scheme) \(reference)" }

  /// The header's value.
  public func value(_ secret: String) -> String { scheme.isEmpty ? secret : "\(scheme) \(secret)" }
}

extension SecretHeader: Codable, TextCodable {}
