/// How an SSH server is known, and how it knows us. The ways are tried in the order key file, password, agent, keyboard.
public struct SSHConfiguration: Sendable, Hashable {
  /// Which host keys are believed.
  public enum HostKeyPolicy: Sendable, Hashable {
    /// The host's key stands in a known-hosts file, or the transfer fails.
    case known
    /// A host that no known-hosts file names is believed the first time, and written down in the first file. A key that
    /// differs from one that is known is refused all the same.
    case acceptNew
    /// The key's SHA-256 is one of these, as `ssh-keygen -l` prints it (`SHA256:…`); files are not asked.
    case pinned(sha256: Set<String>)
  }

  /// Which host keys are believed.
  public var hostKeyPolicy: HostKeyPolicy
  /// Files in OpenSSH's form (sshd(8), SSH_KNOWN_HOSTS FILE FORMAT), hashed names included; missing ones are empty.
  /// `nil`: `~/.ssh/known_hosts` and `/etc/ssh/ssh_known_hosts`.
  public var knownHostsFiles: [String]?
  /// A private key in OpenSSH's or PEM form. `nil`: the first of `~/.ssh/id_ed25519`, `id_ecdsa`, `id_rsa` that can be read.
  public var privateKeyFile: String?
  /// Of the private key.
  public var passphrase: String?
  /// Ask the agent that `SSH_AUTH_SOCK` names.
  public var usesAgent: Bool

  /// By default: known hosts alone, the user's own files, the agent where there is one.
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
  /// Never the passphrase.
  public var description: String {
    "SSHConfiguration(\(hostKeyPolicy), key: \(privateKeyFile ?? "default"), "
      + "passphrase: \(passphrase == nil ? "none" : "***"), agent: \(usesAgent))"
  }
  public var debugDescription: String { description }
  public var customMirror: Mirror { Mirror(self, children: ["description": description]) }
}
