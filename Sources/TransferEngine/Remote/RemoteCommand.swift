/// A command to a server of files, without a transfer.
enum RemoteCommand: Sendable, Equatable {
  case rename(from: RemotePath, to: RemotePath)
  case remove(RemotePath, mayFail: Bool)
  case makeDirectory(RemotePath)

  /// As libcurl takes it in CURLOPT_QUOTE(3) or CURLOPT_PREQUOTE(3); a `*` lets a command fail.
  func lines(isFTP: Bool) -> [String] {
    switch (self, isFTP) {
    case (.rename(let from, let to), true): ["RNFR \(from.text)", "RNTO \(to.text)"]
    case (.rename(let from, let to), false): ["rename \(from.quoted) \(to.quoted)"]
    case (.remove(let path, let mayFail), true): ["\(mayFail ? "*" : "")DELE \(path.text)"]
    case (.remove(let path, let mayFail), false): ["\(mayFail ? "*" : "")rm \(path.quoted)"]
    // One that is there is an error to the server, not to us; whether it is there is asked afterwards.
    case (.makeDirectory(let path), true): ["*MKD \(path.text)"]
    case (.makeDirectory(let path), false): ["*mkdir \(path.quoted)"]
    }
  }
}

/// A path in the form that a server's commands take: absolute, or relative to where a login begins.
struct RemotePath: Sendable, Equatable {
  let text: String

  /// FTP: relative to the login's directory, absolute where the URL's path begins with two slashes (RFC 1738 §3.2.2).
  /// SFTP: absolute, relative to home after `/~/`.
  /// - Throws: `.invalidURL` for names that no command can carry.
  init(_ url: RequestURL) throws(TransferError) {
    guard let bytes = RequestURL.percentDecoded(url.path), let path = String(validating: bytes, as: UTF8.self) else {
      throw .invalidURL(url.string, reason: "its path is not UTF-8")
    }
    // RequestURL has refused NUL, and for FTP the ends of lines.
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

  /// In double quotes, with backslashes before quotes and backslashes: libcurl's form for SFTP commands.
  var quoted: String {
    var result = "\""
    for scalar in text.unicodeScalars {
      if scalar == "\"" || scalar == "\\" || scalar == "'" { result.unicodeScalars.append("\\") }
      result.unicodeScalars.append(scalar)
    }
    return result + "\""
  }

  /// The path and the directories above it, from the top.
  var steps: [RemotePath] {
    var result: [RemotePath] = []
    for index in text.indices where text[index] == "/" && index != text.startIndex {
      result.append(RemotePath(String(text[..<index])))
    }
    return result + [self]
  }
}
