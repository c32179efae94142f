/// The settings of a transfer by FTP, SFTP or SCP, in addition to those of all transfers.
struct RemoteOptions: Sendable {
  enum Operation: Sendable {
    /// The file's bytes from an offset on.
    case read(from: Int64)
    /// Its size and time, without its bytes.
    case facts
    /// The request's body becomes the file or, with an offset, is appended to it.
    case write(Write)
    /// Commands without a transfer.
    case commands([RemoteCommand])
    /// Creates the URL's directory and its parents.
    case makeDirectory
    /// How many bytes are free where the path is, as the size of a file's facts; SFTP alone.
    case freeSpace(RemotePath)
  }

  struct Write: Sendable {
    /// Bytes of the body that the file already has. libcurl appends (`APPE`, `SSH_FXF_APPEND`): the file must have
    /// exactly this size.
    var offset: Int64 = 0
    var createsDirectories = false
    /// Bytes of the body that were handed to the network, including those before the offset; called on a transfer
    /// loop's thread.
    var progressed: (@Sendable (Int64) -> Void)?
  }

  /// libcurl's name of the protocol, the only one that the transfer may use.
  var scheme: String
  var host: String
  var port: Int
  /// The URL's path, decoded, for messages.
  var path: String
  var operation: Operation
  /// Reads a directory of an FTP server with `MLSD` instead of `LIST`.
  var isMachineList = false
  var ftpSecurity: FTPSecurity
  var ssh: SSHConfiguration
  /// Allows SSH keys and the agent.
  var usesAmbientCredentials: Bool
  /// Does not share its connection: the server was verified by other rules than the session's.
  var isIsolated: Bool

  var isFTP: Bool { scheme == "ftp" || scheme == "ftps" }
  var isSSH: Bool { !isFTP }
}
