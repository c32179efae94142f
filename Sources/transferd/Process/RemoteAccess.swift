import Configuration
import TransferEngine

/// How SSH and FTP servers are met: part of the daemon's configuration, the same for all jobs.
struct RemoteAccess: Equatable, Sendable {
  var ssh = SSHConfiguration()
  var ftpSecurity = FTPSecurity.none

  init() {}

  /// - Throws: `DaemonConfiguration.Invalid` for a word that means nothing.
  init(_ reader: ConfigReader) throws {
    switch reader.string(forKey: "sshHostKeys") {
    case nil, "known"?: ssh.hostKeyPolicy = .known
    case "accept-new"?: ssh.hostKeyPolicy = .acceptNew
    case let text?:
      throw DaemonConfiguration.Invalid(description: "sshHostKeys \"\(text)\" is not one of known, accept-new")
    }
    if let file = reader.string(forKey: "sshKnownHosts") { ssh.knownHostsFiles = [file] }
    ssh.privateKeyFile = reader.string(forKey: "sshPrivateKey")
    guard let text = reader.string(forKey: "ftpSecurity") else { return }
    let words: [String: FTPSecurity] = ["none": .none, "if-available": .ifAvailable, "required": .required]
    guard let security = words[text] else {
      throw DaemonConfiguration.Invalid(
        description: "ftpSecurity \"\(text)\" is not one of none, if-available, required")
    }
    ftpSecurity = security
  }
}
