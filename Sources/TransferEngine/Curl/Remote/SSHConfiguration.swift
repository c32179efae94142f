/// How an SSH server is verified, and how to log in. The methods are tried in the order key file, password, agent,
/// keyboard.
public struct SSHConfiguration: Sendable, Hashable {
  /// Which host keys are accepted.
  public enum HostKeyPolicy: Sendable, Hashable {
    /// The host's key is in a known-hosts file; otherwise the transfer fails.
    case known
    /// An unknown host is accepted once and added to the first known-hosts file. A key that differs from a known one is
    /// always refused.
    case acceptNew
    /// The key's SHA-256 is one of these, as `ssh-keygen -l` prints it (`SHA256:…`); known-hosts files are not read.
    case pinned(sha256: Set<String>)
  }

  /// Which host keys are accepted.
  public var hostKeyPolicy: HostKeyPolicy
  /// Files in OpenSSH's format (sshd(8), SSH_KNOWN_HOSTS FILE FORMAT), including hashed names; missing files are empty.
  /// `nil`: `~/.ssh/known_hosts` and `/etc/ssh/ssh_known_hosts`.
  public var knownHostsFiles: [String]?
  /// A private key in OpenSSH's or PEM format. `nil`: the first readable one of `~/.ssh/id_ed25519`, `id_ecdsa`,
  /// `id_rsa`.
  public var privateKeyFile: String?
  /// The private key's passphrase.
  public var passphrase: String?
  /// Use the agent of `SSH_AUTH_SOCK`.
  public var usesAgent: Bool

  /// By default: only known hosts, the user's own files, and the agent if there is one.
  public init(
    hostKeyPolicy: HostKeyPolicy = .known, knownHostsFiles: [String]? = nil, privateKeyFile: String? = nil,
    passphrase: String? = nil, usesAgent: Bool = true
  ) {
    self.hostKeyPolicy = hostKeyPolicy
    self.knownHostsFiles = knownHostsFiles
    self.privateKeyFile = privateKeyFile
    self.passphrase = passphrase
    self.usesAgent = usesAgent
  }

  var effectiveKnownHostsFiles: [String] {
    knownHostsFiles ?? [LocalUser.home + "/.ssh/known_hosts", "/etc/ssh/ssh_known_hosts"]
  }
}

extension SSHConfiguration: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
  /// Without the passphrase.
  public var description: String {
    "SSHConfiguration(\(hostKeyPolicy), key: \(privateKeyFile ?? "default"), "
      + "passphrase: \(passphrase == nil ? "none" : "***"), agent: \(usesAgent))"
  }
  public var debugDescription: String { description }
  public var customMirror: Mirror { Mirror(self, children: ["description": description]) }
}
