import WireValues

/// A path for commands to a server: absolute, or relative to the login directory.
struct RemotePath: Sendable, Equatable {
  let text: String

  /// FTP: relative to the login directory, absolute if the URL's path begins with two slashes (RFC 1738 §3.2.2). SFTP:
  /// absolute, relative to the home directory after `/~/`.
  /// - Throws: `.invalidURL` for names that cannot be sent in a command.
  init(_ url: RequestURL) throws(TransferError) {
    guard let path = url.path.percentDecoded else {
      throw .invalidURL(url.string, reason: "its path is not UTF-8")
    }
    // RequestURL has refused NUL, and for FTP line ends.
    var text = path[...]
    if url.isFTP {
      text = text.dropFirst()
    } else if text.hasPrefix("/~/") {
      text = text.dropFirst(3)
    }
    while text.count > 1, text.hasSuffix("/") { text = text.dropLast() }
    guard !text.isEmpty else { throw .invalidURL(url.string, reason: "it names no file") }
    self.text = String(text)
  }

  private init(_ text: String) { self.text = text }

  /// In double quotes, with backslashes before quotes and backslashes: libcurl's format for SFTP commands.
  var quoted: String {
    var result = "\""
    for scalar in text.unicodeScalars {
      if scalar == "\"" || scalar == "\\" || scalar == "'" { result.unicodeScalars.append("\\") }
      result.unicodeScalars.append(scalar)
    }
    return result + "\""
  }

  /// The path and its parents, from the top.
  var steps: [RemotePath] {
    var result: [RemotePath] = []
    for index in text.indices where text[index] == "/" && index != text.startIndex {
      result.append(RemotePath(String(text[..<index])))
    }
    return result + [self]
  }
}
