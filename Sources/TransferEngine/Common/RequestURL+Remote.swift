import WireValues

extension RequestURL {
  /// Whether the URL is an http or https URL.
  public var isHTTP: Bool { scheme == "https" || scheme == "http" }
  /// Whether the URL names a file by FTP, SFTP or SCP, or on this machine.
  public var isRemoteFile: Bool { !isHTTP }
  var isFTP: Bool { scheme == "ftp" || scheme == "ftps" || scheme == "ftpes" }
  var isSSH: Bool { scheme == "sftp" || scheme == "scp" }

  /// The URL for libcurl. `ftpes` is not known to libcurl; it means `ftp` with `AUTH TLS` (RFC 4217). libcurl encodes
  /// the bytes beyond ASCII of a path, but not those of a query, which servers may refuse.
  var wireString: String {
    if scheme == "ftpes" { return "ftp" + string.dropFirst("ftpes".count) }
    guard isHTTP, let mark = string.firstIndex(ofASCII: "?"), string.utf8.contains(where: { $0 >= 0x80 }) else {
      return string
    }
    return string[..<mark] + string[mark...].percentEncoded { $0 < 0x80 }
  }
  var wireScheme: String { scheme == "ftpes" ? "ftp" : scheme }

  /// Whether the path ends with a slash, which means a directory.
  public var namesDirectory: Bool { path.isEmpty || path.hasSuffix("/") }

  /// Why a path cannot be used with a file protocol; `nil` if it can.
  static func objection(to path: String, scheme: String) -> String? {
    guard let bytes = path.percentDecodedBytes else { return "its path has a broken percent escape" }
    if bytes.contains(0) { return "its path contains a NUL character" }
    if scheme.hasPrefix("ftp") {
      if bytes.contains(where: { $0 == 10 || $0 == 13 }) { return "FTP cannot name files with line breaks" }
      // RFC 1738 §3.2.2. `a` would change bytes during the transfer, `d` would list a directory.
      if let type = path.firstRange(of: ";type="), path[type.upperBound...].lowercased() != "i" {
        return "only binary transfers (;type=i) are made"
      }
    }
    return nil
  }
}
