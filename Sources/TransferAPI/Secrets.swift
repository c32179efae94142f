/// Tells which header fields and query items are secrets, by name. What they hold is stored and sent, never shown.
public enum Secrets {
  /// Case does not matter.
  public static func isSecret(headerName name: String) -> Bool {
    let name = name.lowercased()
    switch name {
    case "authorization", "proxy-authorization", "cookie", "set-cookie", "x-api-key", "x-auth-token",
      "x-amz-security-token", "x-vault-token", "private-token", "job-token", "deploy-token":
      return true
    default:
      return ["token", "secret", "password", "passwd", "api-key", "apikey", "auth", "credential", "session"]
        .contains { name.contains($0) }
    }
  }

  /// Case does not matter.
  public static func isSecret(queryName name: String) -> Bool {
    let name = name.lowercased()
    switch name {
    case "sig", "signature", "x-amz-signature", "x-amz-credential", "x-goog-signature", "x-goog-credential",
      "awsaccesskeyid", "key-pair-id", "policy", "code", "pwd", "pass", "auth":
      return true
    default:
      return ["token", "secret", "password", "passwd", "api_key", "api-key", "apikey"]
        .contains { name.contains($0) }
    }
  }

  /// What is shown in the place of a secret.
  private static let placeholder = "***"

  /// Whether `redacting(url:)` has taken secret query items out of this URL: it leads nowhere any more. Userinfo that was
  /// taken out leaves no trace.
  public static func isRedacted(url: String) -> Bool {
    guard let separator = url.firstRange(of: "://"), let mark = url[separator.upperBound...].firstIndex(of: "?") else {
      return false
    }
    return url[url.index(after: mark)...].prefix { $0 != "#" }.split(separator: "&").contains { item in
      guard let equals = item.firstIndex(of: "="), isSecret(queryName: String(item[..<equals])) else { return false }
      return item[item.index(after: equals)...] == placeholder
    }
  }

  /// The URL without userinfo, and with `***` for the values of secret query items. Anything that has no
  /// `://` comes back as it is.
  public static func redacting(url: String) -> String {
    guard let separator = url.firstRange(of: "://") else { return url }
    let scheme = url[..<separator.upperBound]
    var rest = url[separator.upperBound...]
    let authorityEnd = rest.firstIndex { "/?#".contains($0) } ?? rest.endIndex
    if let at = rest[..<authorityEnd].lastIndex(of: "@") { rest = rest[rest.index(after: at)...] }
    guard let mark = rest.firstIndex(of: "?") else { return "\(scheme)\(rest)" }
    let queryStart = rest.index(after: mark)
    let queryEnd = rest[queryStart...].firstIndex(of: "#") ?? rest.endIndex
    let items = rest[queryStart..<queryEnd].split(separator: "&", omittingEmptySubsequences: false)
      .map { item -> String in
        guard let equals = item.firstIndex(of: "="), isSecret(queryName: String(item[..<equals])) else {
          return String(item)
        }
        return "\(item[...equals])\(placeholder)"
      }
    return "\(scheme)\(rest[..<queryStart])\(items.joined(separator: "&"))\(rest[queryEnd...])"
  }
}
