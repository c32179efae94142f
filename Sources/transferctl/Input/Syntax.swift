import TransferAPI

/// Quick checks before anything is sent; the daemon repeats them all. Messages say what is wrong and what to do.
enum Syntax {
  /// What downloads come from.
  static let downloadSchemes = ["http", "https", "ftp", "ftpes", "ftps", "sftp", "scp"]
  /// What files are brought to.
  static let uploadSchemes = ["http", "https", "s3", "ftp", "ftpes", "ftps", "sftp", "scp"]

  static func check(url: String, schemes: [String] = downloadSchemes) throws(WireError) {
    if let scalar = url.unicodeScalars.first(where: { $0.value < 0x20 || (0x7f..<0xa0).contains($0.value) }) {
      throw WireError("the URL has a control character (\(String(scalar).printable)): \(shown(url))")
    }
    if url.contains(" ") { throw WireError("the URL has a space; write it as %20: \(shown(url))") }
    guard let separator = url.firstRange(of: "://") else {
      throw WireError("not a URL: \(shown(url)); it must begin with \(list(schemes.map { $0 + "://" }))")
    }
    let scheme = url[..<separator.lowerBound].lowercased()
    guard schemes.contains(scheme) else {
      throw WireError("unsupported scheme in \(shown(url)); use \(list(schemes))")
    }
    let rest = url[separator.upperBound...]
    let authority = rest.prefix { !"/?#\\".contains($0) }
    if rest.dropFirst(authority.count).first == "\\" {
      throw WireError("the URL has a backslash after its host: \(shown(url))")
    }
    try check(authority: authority, of: url)
  }

  private static func list(_ words: [String]) -> String {
    words.count < 2 ? words.joined() : words.dropLast().joined(separator: ", ") + " or \(words[words.count - 1])"
  }

  private static func check(authority: Substring, of url: String) throws(WireError) {
    var host = authority
    if let at = host.lastIndex(of: "@") {
      guard host.firstIndex(of: "@") == at else {
        throw WireError("the URL has more than one @ before its path; write those of a password as %40")
      }
      host = host[host.index(after: at)...]
    }
    let port: Substring?
    if host.hasPrefix("[") {
      guard let close = host.firstIndex(of: "]"), host.index(after: host.startIndex) < close else {
        throw WireError("the URL's IPv6 address has no end: \(shown(url))")
      }
      let after = host[host.index(after: close)...]
      guard after.isEmpty || after.hasPrefix(":") else {
        throw WireError("the URL has words after its IPv6 address: \(shown(url))")
      }
      port = after.isEmpty ? nil : after.dropFirst()
    } else if let colon = host.firstIndex(of: ":") {
      port = host[host.index(after: colon)...]
      host = host[..<colon]
    } else {
      port = nil
    }
    guard !host.isEmpty else { throw WireError("the URL names no host: \(shown(url))") }
    if let port, !port.isEmpty {
      guard port.allSatisfy({ $0.isASCII && $0.isNumber }), let number = Int(port),
        (1...65535).contains(number)
      else { throw WireError("the URL's port is not a number from 1 to 65535: \(shown(url))") }
    }
  }

  /// `K: V`, as curl takes it.
  static func header(_ text: String) throws(WireError) -> (name: String, value: String) {
    guard let colon = text.firstIndex(of: ":") else {
      throw WireError("a header is written \"Name: value\", or @FILE: \(text)")
    }
    let name = String(text[..<colon])
    let value = String(trimmed(text[text.index(after: colon)...]))
    try check(header: name, value: value)
    return (name, value)
  }

  static func isHeaderName(_ text: some StringProtocol) -> Bool {
    !text.isEmpty && text.unicodeScalars.allSatisfy(isToken)
  }

  static func check(header name: String, value: String) throws(WireError) {
    guard isHeaderName(name) else {
      throw WireError("not a header name: \"\(name)\"")
    }
    guard !reservedHeaders.contains(name.lowercased()) else {
      throw WireError("the header \(name) is set by transferd itself")
    }
    guard value.unicodeScalars.allSatisfy({ $0 == "\t" || ($0.value >= 0x20 && $0.value != 0x7f) }) else {
      throw WireError("the header \(name) has a control character in its value")
    }
  }

  /// What would break the transfer's own framing or resuming. RFC 9110, RFC 9112
  private static let reservedHeaders: Set<String> = [
    "host", "content-length", "range", "transfer-encoding", "connection", "if-range", "accept-encoding",
  ]

  /// `token`, RFC 9110 §5.6.2
  private static func isToken(_ scalar: Unicode.Scalar) -> Bool {
    switch scalar {
    case "a"..."z", "A"..."Z", "0"..."9", "!", "#", "$", "%", "&", "'", "*", "+", "-", ".", "^", "_", "`",
      "|",
      "~":
      true
    default: false
    }
  }

  /// `-o`: one name, or a path with directories; never one that climbs.
  static func check(outputName name: String) throws(WireError) {
    guard !name.isEmpty else { throw WireError("the output name is empty") }
    guard !name.utf8.contains(0) else { throw WireError("the output name has a NUL byte") }
    guard name != "-" else { throw WireError("cannot write to standard output; -o names a file") }
    let components = name.split(separator: "/", omittingEmptySubsequences: false)
    guard let last = components.last, !last.isEmpty, last != "." else {
      throw WireError("-o names a directory (\(name)); use -d for that")
    }
    guard !components.contains("..") else {
      throw WireError("the output name may not contain \"..\": \(name)")
    }
    guard components.allSatisfy({ $0.utf8.count <= 255 }) else {
      throw WireError("the output name is longer than 255 bytes")
    }
  }

  static func trimmed(_ text: Substring) -> Substring {
    var text = text
    while let first = text.first, first == " " || first == "\t" { text.removeFirst() }
    while let last = text.last, last == " " || last == "\t" { text.removeLast() }
    return text
  }

  /// Without its secrets, and not endlessly.
  private static func shown(_ url: String) -> String {
    let text = Secrets.redacting(url: url)
    return text.count > 200 ? text.prefix(200) + "…" : text
  }
}
