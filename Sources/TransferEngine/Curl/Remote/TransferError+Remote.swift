extension TransferError {
  /// A failure of a file server. `reply` is the server's or libcurl's text, made printable.
  public enum RemoteFailure: Sendable, Hashable {
    /// The file, or a directory on the way to it, does not exist.
    case missing(path: String, reply: String)
    /// The path leads to a directory.
    case isDirectory(path: String)
    /// The user may not read or write there.
    case accessDenied(path: String, reply: String)
    /// The server does not accept the user name with this password or key.
    case loginDenied(host: String, reply: String)
    /// The server cannot serve the request now: too many users, a file in use (FTP replies 4yz, RFC 959 §4.2.1).
    case busy(host: String, reply: String)
    /// The file exists, and may not be replaced.
    case exists(path: String)
    /// The server has no space left, or the user no quota.
    case storageFull(host: String, reply: String)
    /// The server cannot continue in the middle of the file.
    case cannotResume(reply: String)
    /// The file to append to, or the uploaded file, does not have the expected size; `nil`: it does not exist.
    case sizeDiffers(path: String, expected: Int64, actual: Int64?)
    /// Any other failure.
    case refused(host: String, reply: String, isTransient: Bool)
    /// No known-hosts file names the host.
    case hostKeyUnknown(host: String, port: Int, keyType: String, fingerprint: String, file: String)
    /// The host is known with another key: an attacker may be on the network.
    case hostKeyChanged(host: String, keyType: String, fingerprint: String, expectedBy: String)
    /// The host's key cannot be checked, or is revoked.
    case hostKeyRefused(host: String, reason: String)
    /// The protocol does not support this.
    case unsupported(String)
  }
}

extension TransferError.RemoteFailure {
  /// Whether the same request may succeed later without any change.
  public var isTransient: Bool {
    switch self {
    case .busy, .storageFull: true
    case .refused(_, _, let isTransient): isTransient
    // The next attempt asks for the current size.
    case .sizeDiffers: true
    // The next attempt transfers the whole file.
    case .cannotResume: true
    case .missing, .isDirectory, .accessDenied, .loginDenied, .exists, .hostKeyUnknown, .hostKeyChanged,
      .hostKeyRefused,
      .unsupported:
      false
    }
  }
}

extension TransferError.RemoteFailure: CustomStringConvertible {
  public var description: String {
    switch self {
    case .missing(let path, let reply): "the server has no \(path)" + Self.quoted(reply)
    case .isDirectory(let path): "\(path) is a directory; only files are transferred"
    case .accessDenied(let path, let reply): "the server denies access to \(path)" + Self.quoted(reply)
    case .loginDenied(let host, let reply): "\(host) denies the login" + Self.quoted(reply)
    case .busy(let host, let reply): "\(host) cannot serve now" + Self.quoted(reply)
    case .exists(let path): "\(path) exists on the server; it is only replaced when asked for"
    case .storageFull(let host, let reply): "\(host) has no space left" + Self.quoted(reply)
    case .cannotResume(let reply): "the server cannot resume in the middle of the file" + Self.quoted(reply)
    case .sizeDiffers(let path, let expected, let actual):
      "\(path) on the server has \(actual.map { "\($0)" } ?? "no") bytes instead of \(expected)"
    case .refused(let host, let reply, _): "\(host) refused" + Self.quoted(reply)
    case .hostKeyUnknown(let host, let port, let type, let fingerprint, let file):
      "the SSH key of \(host), port \(port), is not known: \(type) \(fingerprint). Compare this fingerprint with the "
        + "server's own; if it is the same, trust it with: "
        + "ssh-keyscan -p \(port) -t \(Self.scanType(type)) \(host) >> \(file)"
    case .hostKeyChanged(let host, let type, let fingerprint, let expected):
      "the SSH key of \(host) is \(type) \(fingerprint), which is not the one expected by \(expected): an attacker may "
        + "intercept the connection, or the server has a new key. Nothing was sent; "
        + "remove the old key only when you know the new one"
    case .hostKeyRefused(let host, let reason): "the SSH server \(host) is refused: \(reason)"
    case .unsupported(let what): what
    }
  }

  private static func quoted(_ reply: String) -> String { reply.isEmpty ? "" : ": \(reply)" }

  /// The names of ssh-keyscan(1): `ed25519`, `ecdsa`, `rsa`.
  private static func scanType(_ type: String) -> String {
    type.hasPrefix("ecdsa") ? "ecdsa" : type.hasPrefix("ssh-") ? String(type.dropFirst(4)) : type
  }
}
