import WireValues

/// Tells which header fields and query items are secrets, by name. What they hold is stored and sent, never shown.
public enum Secrets {
  /// Case does not matter.
  public static func isSecret(headerName name: String) -> Bool { SecretNames.isSecret(field: name) }

  /// Case does not matter, nor does percent-encoding.
  public static func isSecret(queryName name: String) -> Bool { SecretNames.isSecret(parameter: name) }

  /// Whether `redacting(url:)` has taken secret query items out of this URL: it leads nowhere any more. Userinfo that was
  /// taken out leaves no trace.
  public static func isRedacted(url: String) -> Bool {
    guard let separator = url.firstRange(of: "://"), let mark = url[separator.upperBound...].firstIndex(of: "?") else {
      return false
    }
    let query = url[url.index(after: mark)...].prefix { $0 != "#" }
    return query.split { $0 == "&" || $0 == ";" }.contains { item in
      guard let equals = item.firstIndex(of: "="), isSecret(queryName: String(item[..<equals])) else { return false }
      return item[item.index(after: equals)...] == SecretNames.mark
    }
  }

  /// The URL without userinfo, and with `***` for the values of secret items of its query and its fragment. Anything that
  /// has no `://` comes back as it is.
  public static func redacting(url: String) -> String {
    guard let separator = url.firstRange(of: "://") else { return url }
    let scheme = url[..<separator.upperBound]
    var rest = url[separator.upperBound...]
    let authorityEnd = rest.firstIndex { "/?#".contains($0) } ?? rest.endIndex
    if let at = rest[..<authorityEnd].lastIndex(of: "@") { rest = rest[rest.index(after: at)...] }
    let pathEnd = rest.firstIndex { $0 == "?" || $0 == "#" } ?? rest.endIndex
    var shown = String(scheme) + rest[..<pathEnd]
    rest = rest[pathEnd...]
    while let mark = rest.first {
      let next = mark == "?" ? rest.dropFirst().firstIndex(of: "#") ?? rest.endIndex : rest.endIndex
      shown.append(mark)
      shown += SecretNames.redacted(pairs: rest[..<next].dropFirst())
      rest = rest[next...]
    }
    return shown
  }
}
