import Glibc
import HTTPTypes
import Logging
import Synchronization

/// Looks the host of a request's own URL up in a `.netrc`, for requests that bring no credentials. Hosts that redirects
/// lead to are not looked up, and what was found goes to no other origin.
///
/// The file is read again when it changed. One that others can read is used, with a warning in the log.
public final class NetrcAdapter: RequestInterceptor {
  private let path: String?
  private let isRequired: Bool
  private let cache = Mutex<(stamp: Stamp, file: NetrcFile)?>(nil)

  private struct Stamp: Equatable {
    var device: UInt64
    var inode: UInt64
    var size: Int64
    var seconds: Int
    var nanoseconds: Int
  }

  /// `~/.netrc`, which need not be there.
  public init() {
    path = NetrcFile.defaultPath
    isRequired = false
  }

  /// - Parameter path: a file that must be there when a request is made.
  public init(path: String) {
    self.path = path
    isRequired = true
  }

  /// - Throws: `.file` where the file cannot be read.
  public func adapt(_ request: TransferRequest, for session: Session) async throws -> TransferRequest {
    guard request.credential == nil, !request.headers.contains(.authorization) else { return request }
    // `https://user@host/` names a user whose password the file may know.
    if let known = request.credentials, !known.password.isEmpty { return request }
    guard let file = try file() else { return request }
    var request = request
    let host = request.url.host.filter { $0 != "[" && $0 != "]" }
    if let found = file.credentials(forHost: host, login: request.credentials?.username) { request.credentials = found }
    return request
  }

  private func file() throws(TransferError) -> NetrcFile? {
    guard let path else { return nil }
    guard let stamp = Self.stamp(path) else {
      guard isRequired else { return nil }
      throw .file(.system("cannot read \(path)", errno: errno))
    }
    if let known = cache.withLock({ $0 }), known.stamp == stamp { return known.file }
    let file = try NetrcFile(path: path)
    cache.withLock { $0 = (stamp, file) }
    if let warning = file.permissionWarning { Logger(label: "TransferEngine").warning("\(warning)") }
    return file
  }

  private static func stamp(_ path: String) -> Stamp? {
    var status = stat()
    guard stat(path, &status) == 0 else { return nil }
    return Stamp(
      device: UInt64(status.st_dev), inode: UInt64(status.st_ino), size: Int64(status.st_size),
      seconds: status.st_mtim.tv_sec, nanoseconds: status.st_mtim.tv_nsec)
  }
}
