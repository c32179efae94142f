import WireValues

/// Decides by name which header fields and query items are secrets. Their values are stored and sent, but never shown.
public enum Secrets {
  /// Case does not matter.
  public static func isSecret(headerName name: String) -> Bool { SecretNames.isSecret(field: name) }

  /// Case does not matter, nor does percent-encoding.
  public static func isSecret(queryName name: String) -> Bool { SecretNames.isSecret(parameter: name) }

  /// Whether `redacting(url:)` has removed secret query items from this URL, so that it cannot be used any more.
  /// Removed userinfo is not detected.
  public static func isRedacted(url: String) -> Bool {
    guard let separator = url.firstRange(ofASCII: "://"),
      let mark = url[separator.upperBound...].firstIndex(ofASCII: "?")
    else {
      return false
    }
    let query = url.suffix(after: mark).prefix(upToASCII: "#")
    return query.split(atASCII: "&;").contains { item in
      guard let equals = item.firstIndex(ofASCII: "="), isSecret(queryName: String(item[..<equals])) else {
        return false
      }
      return item.suffix(after: equals) == SecretNames.mark
    }
  }

  /// The URL without userinfo, and with `***` for the values of secret items of its query and its fragment. Anything that
  /// has no `://` comes back as it is.
  public static func redacting(url: String) -> String {
    guard let separator = url.firstRange(ofASCII: "://") else { return url }
    let scheme = url[..<separator.upperBound]
    var rest = url[separator.upperBound...]
    if let at = rest.prefix(upToASCII: "/?#").lastIndex(ofASCII: "@") { rest = rest.suffix(after: at) }
    let path = rest.prefix(upToASCII: "?#")
    var shown = String(scheme) + path
    rest = rest[path.endIndex...]
    if rest.utf8.first == UInt8(ascii: "?") {
      let query = rest.suffix(after: rest.startIndex).prefix(upToASCII: "#")
      shown += "?" + SecretNames.redacted(pairs: query)
      rest = rest[query.endIndex...]
    }
    guard !rest.isEmpty else { return shown }
    return shown + "#" + SecretNames.redacted(pairs: rest.suffix(after: rest.startIndex))
  }
}
