import Glibc

/// Whether an `ftp:` connection becomes TLS by `AUTH TLS` (RFC 4217); then the data connections do too.
public enum FTPSecurity: String, Sendable, Hashable, Codable {
  /// Plain text, the password included.
  case none
  /// TLS where the server offers it, else plain text: no protection against whoever sits between.
  case ifAvailable
  /// TLS, or no transfer.
  case required
}

/// What a transfer by FTP, SFTP or SCP needs beside what all transfers need.
struct RemoteOptions: Sendable {
  enum Operation: Sendable {
    /// The file's bytes from an offset on.
    case read(from: Int64)
    /// Its size and time, no bytes.
    case facts
    /// The request's body becomes the file, or, from an offset on, its end.
    case write(Write)
    /// Commands without a transfer.
    case commands([RemoteCommand])
    /// The URL's directory, and those above it, are there afterwards.
    case makeDirectory
  }

  struct Write: Sendable {
    /// Bytes of the body, and of the file, that are there already. libcurl appends (`APPE`, `SSH_FXF_APPEND`): the file must
    /// be exactly that long.
    var offset: Int64 = 0
    var createsDirectories = false
    /// Bytes of the body that were handed to the network, those before the offset included; on a transfer loop's thread.
    var progressed: (@Sendable (Int64) -> Void)?
  }

  /// libcurl's name of the protocol: the only one the transfer may use.
  var scheme: String
  var host: String
  var port: Int
  /// The URL's path, decoded, for messages.
  var path: String
  var operation: Operation
  var ftpSecurity: FTPSecurity
  var ssh: SSHConfiguration
  /// SSH keys and the agent may be used.
  var usesAmbientCredentials: Bool
  /// Keeps the connection to itself: its server was trusted by other rules than the session's.
  var isIsolated: Bool

  var isFTP: Bool { scheme == "ftp" || scheme == "ftps" }
  var isSSH: Bool { !isFTP }

  init(_ request: TransferRequest, _ configuration: SessionConfiguration) {
    let url = request.url
    scheme = url.wireScheme
    host = url.host.hasPrefix("[") ? String(url.host.dropFirst().dropLast()) : url.host
    port = url.port
    path = String(decoding: RequestURL.percentDecoded(url.path) ?? [], as: UTF8.self)
    ftpSecurity = url.scheme == "ftpes" ? .required : request.ftpSecurity ?? configuration.ftpSecurity
    ssh = request.ssh ?? configuration.ssh
    usesAmbientCredentials = request.usesAmbientCredentials
    isIsolated = request.ssh.map { $0 != configuration.ssh } ?? false
    if request.body != nil {
      operation = .write(Write())
    } else {
      operation = request.method == .head ? .facts : .read(from: 0)
    }
  }
}

/// The user this process runs as, where a URL or a path leaves it out.
enum LocalUser {
  static let name: String = entry { $0.pw_name } ?? "nobody"
  static let home: String = {
    if let home = getenv("HOME"), home.pointee != 0 { return String(cString: home) }
    return entry { $0.pw_dir } ?? "/nonexistent"
  }()

  private static func entry(_ field: (passwd) -> UnsafeMutablePointer<CChar>?) -> String? {
    var record = passwd()
    var found: UnsafeMutablePointer<passwd>?
    var buffer = [CChar](repeating: 0, count: 16 * 1024)
    guard getpwuid_r(getuid(), &record, &buffer, buffer.count, &found) == 0, let found else { return nil }
    return field(found.pointee).map { String(cString: $0) }
  }
}
