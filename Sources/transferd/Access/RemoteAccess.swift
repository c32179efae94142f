import TransferEngine

/// The daemon's configuration for SSH and FTP servers, which applies to all jobs.
struct RemoteAccess: Equatable, Sendable {
  var ssh = SSHConfiguration()
  var ftpSecurity = FTPSecurity.none

  /// The values of the setting `sshHostKeys`.
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

  /// The values of the setting `ftpSecurity`.
  enum FTPLevel: String, CaseIterable, Sendable {
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
