import TransferEngine

/// How SSH and FTP servers are met: part of the daemon's configuration, the same for all jobs.
struct RemoteAccess: Equatable, Sendable {
  var ssh = SSHConfiguration()
  var ftpSecurity = FTPSecurity.none

  /// `sshHostKeys` in the configuration's words.
  enum HostKeys: String, CaseIterable, Sendable {
    case known
    case acceptNew = "accept-new"

    var policy: SSHConfiguration.HostKeyPolicy {
      switch self {
      case .known: .known
      case .acceptNew: .acceptNew
      }
    }
  }

  /// `ftpSecurity` in the configuration's words.
  enum FTPWord: String, CaseIterable, Sendable {
    case none
    case ifAvailable = "if-available"
    case required

    var security: FTPSecurity {
      switch self {
      case .none: .none
      case .ifAvailable: .ifAvailable
      case .required: .required
      }
    }
  }
}
