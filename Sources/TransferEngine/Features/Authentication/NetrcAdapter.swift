import Glibc
import HTTPTypes
import Logging
import Synchronization
import WireValues

/// Looks up the host of a request's own URL in a `.netrc`, for requests without credentials. Hosts of redirects are not
/// looked up, and credentials are sent to no other origin.
///
/// The file is read again after it has changed. If other users can read the file, it is used, with a warning in the
/// log.
public final class NetrcAdapter: RequestInterceptor {
  private let path: String?
  private let isRequired: Bool
  private let cache = Mutex<(version: SourceIdentity, file: NetrcFile)?>(nil)

  /// Uses `~/.netrc`, which may be missing.
  public init() {
    path = NetrcFile.defaultPath
    isRequired = false
  }

  /// - Parameter path: a file that must exist when a request is made.
  public init(path: String) {
    self.path = path
    isRequired = true
  }

  /// - Throws: `.file` if the file cannot be read.
  public func adapt(_ request: TransferRequest, for session: Session) async throws -> TransferRequest {
    guard request.credential == nil, !request.headers.contains(.authorization) else { return request }
    // `https://user@host/` names a user whose password may be in the file.
    if let known = request.credentials, !known.password.isEmpty { return request }
    guard let file = try file() else { return request }
    var request = request
    let host = request.url.host.filter { $0 != "[" && $0 != "]" }
    if let found = file.credentials(forHost: host, login: request.credentials?.username) { request.credentials = found }
    return request
  }

  private func file() throws(TransferError) -> NetrcFile? {
    guard let path else { return nil }
    guard let version = Self.version(of: path) else {
      guard isRequired else { return nil }
      throw .file(.system("cannot read \(path)", errno: errno))
    }
    if let known = cache.withLock({ $0 }), known.version == version { return known.file }
    let file = try NetrcFile(path: path)
    cache.withLock { $0 = (version, file) }
    if let warning = file.permissionWarning { Logger(label: "TransferEngine").warning("\(warning)") }
    return file
  }

  private static func version(of path: String) -> SourceIdentity? {
    var status = stat()
    guard stat(path, &status) == 0 else { return nil }
    return SourceIdentity(status)
  }
}
