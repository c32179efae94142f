/// A command to a file server, without a transfer.
enum RemoteCommand: Sendable, Equatable {
  case rename(from: RemotePath, to: RemotePath)
  case remove(RemotePath, mayFail: Bool)
  case makeDirectory(RemotePath)

  /// The command for CURLOPT_QUOTE(3) or CURLOPT_PREQUOTE(3); `*` allows it to fail.
  func lines(isFTP: Bool) -> [String] {
    switch (self, isFTP) {
    case (.rename(let from, let to), true): ["RNFR \(from.text)", "RNTO \(to.text)"]
    case (.rename(let from, let to), false): ["rename \(from.quoted) \(to.quoted)"]
    case (.remove(let path, let mayFail), true): ["\(mayFail ? "*" : "")DELE \(path.text)"]
    case (.remove(let path, let mayFail), false): ["\(mayFail ? "*" : "")rm \(path.quoted)"]
    // An existing directory is an error for the server, but not here; its existence is checked afterwards.
    case (.makeDirectory(let path), true): ["*MKD \(path.text)"]
    case (.makeDirectory(let path), false): ["*mkdir \(path.quoted)"]
    }
  }
}
