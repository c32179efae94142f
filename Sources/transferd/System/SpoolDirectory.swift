import FoundationEssentials
import Glibc
import Store
import TransferAPI
import TransferEngine
import WireValues

/// The daemon's copies of data that clients upload from standard input. They are stored as `spool/TOKEN/NAME` in the state
/// directory, or as `spool/TOKEN.UID/NAME` if another user than the daemon's created them. The directory's name is as durable
/// as the file, so the owner of a token is always known.
///
/// Each piece is appended at the end of the file. After the daemon was killed, a client reads the size and continues there. A
/// spooled file is synced to disk before its job is stored.
struct SpoolDirectory: Sendable {
  let path: String
  /// The daemon's uid.
  let owner: UInt32

  /// A spooled file without a job is deleted after this time in seconds, because its client has gone away.
  static let maximumIdleTime: TimeInterval = 86400
  static let maximumPieceBytes = 4 << 20
  /// The most files without a job that another user than the daemon's and root may have: each costs names in the state
  /// directory, and a look at each sweep.
  static let maximumWithoutJob = 1000

  init(stateDirectory: String, owner: UInt32 = geteuid()) {
    path = stateDirectory + "/spool"
    self.owner = owner
  }

  /// Whether the text is a token: 32 lowercase hexadecimal digits.
  static func isToken(_ text: String) -> Bool {
    text.utf8.count == 32 && text.utf8.allSatisfy { (48...57).contains($0) || (97...102).contains($0) }
  }

  /// A random token.
  static func newToken() -> String {
    [0, 1].map { _ in
      let digits = String(UInt64.random(in: .min ... .max), radix: 16)
      return String(repeating: "0", count: 16 - digits.count) + digits  // checked: at most 16 digits
    }.joined()
  }

  /// Creates an empty file with this name for a user.
  /// - Parameter known: the tokens of jobs; `nil`: they are not known, and the user's files are not counted.
  func create(_ name: String, for uid: UInt32, known: [String: Bool]? = nil) throws(Problem) -> Spool {
    do throws(TransferError) {
      try SafeFileName.check(name)
    } catch {
      throw Problem(.invalid, error.description)
    }
    if let known, uid != owner, uid != 0, countWithoutJob(of: uid, known) >= Self.maximumWithoutJob {
      throw Problem(
        .notAllowed, "you have \(Self.maximumWithoutJob) spooled files without a job; add their jobs, or remove them")
    }
    let token = Self.newToken()
    let directory = directory(of: token, uid)
    guard mkdir(path, 0o700) == 0 || errno == EEXIST, mkdir(directory, 0o700) == 0 else {
      throw Self.problem("cannot create \(directory)")
    }
    let descriptor = open(directory + "/" + name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0o600)
    guard descriptor >= 0 else { throw Self.problem("cannot create \(directory)/\(name)") }
    close(descriptor)
    return Spool(token: token, bytes: 0)
  }

  private func countWithoutJob(of uid: UInt32, _ known: [String: Bool]) -> Int {
    let names = (try? FileManager.default.contentsOfDirectory(atPath: path)) ?? []
    return names.count { name in
      name.hasSuffix(".\(uid)") && Self.token(ofDirectory: name).map { known[$0] == nil } ?? false
    }
  }

  private func directory(of token: String, _ uid: UInt32) -> String {
    path + "/" + token + (uid == owner ? "" : ".\(uid)")
  }

  /// The directory of a token; `nil` if the token does not exist or is not in scope.
  private func directory(of token: String, in scope: Scope) -> String? {
    guard Self.isToken(token) else { return nil }
    switch scope {
    case .owner(let uid):
      let directory = directory(of: token, uid)
      return access(directory, F_OK) == 0 ? directory : nil
    case .everything:
      let names = (try? FileManager.default.contentsOfDirectory(atPath: path)) ?? []
      return names.first { Self.token(ofDirectory: $0) == token }.map { path + "/" + $0 }
    }
  }

  /// The token in a directory's name `TOKEN` or `TOKEN.UID`; `nil` for other names.
  private static func token(ofDirectory name: String) -> String? {
    let parts = name.split(separator: ".", maxSplits: 1, omittingEmptySubsequences: false)
    guard let token = parts.first.map(String.init), isToken(token) else { return nil }
    guard parts.count == 1 || UInt32(parts[1]) != nil else { return nil }
    return token
  }

  /// The file of a token; `nil` if the token does not exist or is not in scope.
  func file(_ token: String, in scope: Scope) -> String? { directory(of: token, in: scope).flatMap(Self.file(in:)) }

  private static func file(in directory: String) -> String? {
    guard let names = try? FileManager.default.contentsOfDirectory(atPath: directory), names.count == 1 else {
      return nil
    }
    return directory + "/" + names[0]
  }

  /// Appends a piece. A client that got no response may send a piece again; it then overwrites the same bytes.
  /// - Parameter least: bytes that have to stay free.
  func append(
    _ piece: [UInt8], at offset: Int64, to token: String, in scope: Scope, leaving least: Int64 = 0
  ) throws(Problem) -> Spool {
    let descriptor = try openFile(token, in: scope)
    defer { close(descriptor) }
    try Self.checkSpace(of: descriptor, for: piece.count, leaving: least)
    let size = try Self.size(of: descriptor)
    guard offset >= 0, offset <= size else {
      throw Problem(.notAllowed, "the spooled file ends at \(size), not at \(offset)")
    }
    let end = try (CheckedNumber(offset) + piece.count).orThrow(
      Problem(.tooLarge, "a file cannot have more than \(Int64.max) bytes"))
    var written = 0
    while written < piece.count {
      let count = piece.withUnsafeBytes { bytes in
        // checked: below end
        pwrite(descriptor, bytes.baseAddress! + written, bytes.count - written, off_t(offset) + off_t(written))
      }
      if count < 0, errno == EINTR { continue }
      guard count > 0 else { throw Self.problem("cannot write to the spool directory \(path)") }
      written += count  // checked: at most piece.count
    }
    return Spool(token: token, bytes: max(size, end))
  }

  /// A file system that does not report its free space is no error.
  private static func checkSpace(of descriptor: Int32, for bytes: Int, leaving least: Int64) throws(Problem) {
    var space = statvfs()
    guard least > 0, fstatvfs(descriptor, &space) == 0, space.f_blocks > 0 else { return }
    let size = CheckedNumber(Int64(clamping: space.f_bavail)) * CheckedNumber(Int64(clamping: space.f_frsize))
    let free = size.value ?? .max
    guard free < least.saturatingSum(Int64(bytes)) else { return }
    throw Problem(
      .diskFull, "the spool's file system has \(free) bytes free; \(bytes) are needed, and \(least) have to stay free")
  }

  /// The number of bytes that are stored.
  func status(_ token: String, in scope: Scope) throws(Problem) -> Spool {
    let descriptor = try openFile(token, in: scope)
    defer { close(descriptor) }
    return Spool(token: token, bytes: try Self.size(of: descriptor))
  }

  private static func size(of descriptor: Int32) throws(Problem) -> Int64 {
    var status = stat()
    guard fstat(descriptor, &status) == 0 else { throw problem("cannot read the size of the spooled file") }
    return Int64(status.st_size)
  }

  /// Syncs the file and its directories to disk, and the name of the first one in the state directory.
  /// - Returns: the path of the file.
  func commit(_ token: String, in scope: Scope) throws(Problem) -> String {
    guard let directory = directory(of: token, in: scope), let file = Self.file(in: directory) else {
      throw Self.missing(token)
    }
    for path in [file, directory, path] {
      let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW)
      guard descriptor >= 0 else { throw Self.problem("cannot open \(path)") }
      defer { close(descriptor) }
      guard fsync(descriptor) == 0 else { throw Self.problem("cannot sync \(path) to disk") }
    }
    StateDirectory.synchronizeNames(in: path.parentPath)
    return file
  }

  func remove(_ token: String, in scope: Scope) {
    if let directory = directory(of: token, in: scope) { Self.remove(directory: directory) }
  }

  private static func remove(directory: String) {
    if let file = file(in: directory) { unlink(file) }
    rmdir(directory)
  }

  /// Deletes the files that no job needs. Files of jobs that do not need them any more are deleted at once, files without a
  /// job after ``maximumIdleTime``.
  /// - Parameter known: the tokens of jobs, and whether the job still needs its file.
  func sweep(known: [String: Bool], now: Date) {
    guard let names = try? FileManager.default.contentsOfDirectory(atPath: path) else { return }
    for name in names {
      guard let token = Self.token(ofDirectory: name) else { continue }
      let directory = path + "/" + name
      if let isNeeded = known[token] {
        if !isNeeded { Self.remove(directory: directory) }
        continue
      }
      var status = stat()
      guard stat(Self.file(in: directory) ?? directory, &status) == 0 else { continue }
      // checked: Doubles do not trap
      if now.timeIntervalSince1970 - Double(status.st_mtim.tv_sec) > Self.maximumIdleTime {
        Self.remove(directory: directory)
      }
    }
  }

  private func openFile(_ token: String, in scope: Scope) throws(Problem) -> Int32 {
    guard let file = file(token, in: scope) else { throw Self.missing(token) }
    let descriptor = open(file, O_RDWR | O_CLOEXEC | O_NOFOLLOW)
    guard descriptor >= 0 else { throw Self.problem("cannot open \(file)") }
    return descriptor
  }

  private static func missing(_ token: String) -> Problem {
    Problem(.notFound, "there is no spooled file with the token \(token)")
  }

  private static func problem(_ what: String) -> Problem {
    let code = errno
    let text = "\(what): \(String(cString: strerror(code)))"
    switch code {
    case ENOSPC, EDQUOT: return Problem(.diskFull, text)
    case EACCES, EPERM, EROFS: return Problem(.permission, text)
    default: return Problem(.internal, text)
    }
  }
}
