import FoundationEssentials
import Glibc
import TransferAPI
import TransferEngine

/// The daemon's own copies of what came by standard input: `spool/TOKEN/NAME` in the state directory.
///
/// Pieces are appended at the offset where the last one ended, so that a client may ask and go on after the daemon was
/// killed. What a job is made of is on the disk before the job exists.
struct SpoolDirectory: Sendable {
  let path: String

  /// Without a job for this long it is a leftover of a client that went away.
  static let patience: TimeInterval = 86400
  static let maximumPieceBytes = 4 << 20

  init(stateDirectory: String) { path = stateDirectory + "/spool" }

  /// 32 hexadecimal digits.
  static func isToken(_ text: String) -> Bool {
    text.utf8.count == 32 && text.utf8.allSatisfy { (48...57).contains($0) || (97...102).contains($0) }
  }

  /// An empty file of this name.
  func create(_ name: String) throws(Problem) -> Spool {
    do throws(TransferError) {
      try SafeFileName.check(name)
    } catch {
      throw Problem(.invalid, error.description)
    }
    let token = [0, 1].map { _ in Self.hexadecimal(UInt64.random(in: .min ... .max)) }.joined()
    let directory = path + "/" + token
    guard mkdir(path, 0o700) == 0 || errno == EEXIST, mkdir(directory, 0o700) == 0 else {
      throw Self.problem("cannot make \(directory)")
    }
    let descriptor = open(directory + "/" + name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0o600)
    guard descriptor >= 0 else { throw Self.problem("cannot make \(directory)/\(name)") }
    close(descriptor)
    return Spool(token: token, bytes: 0)
  }

  /// The file of a token; `nil` where there is none.
  func file(_ token: String) -> String? {
    guard Self.isToken(token) else { return nil }
    let directory = path + "/" + token
    guard let names = try? FileManager.default.contentsOfDirectory(atPath: directory), names.count == 1 else {
      return nil
    }
    return directory + "/" + names[0]
  }

  /// Appends a piece. One that was written before, because its answer was lost, is written again over itself.
  func append(_ piece: [UInt8], at offset: Int64, to token: String) throws(Problem) -> Spool {
    let descriptor = try openFile(token)
    defer { close(descriptor) }
    var status = stat()
    guard fstat(descriptor, &status) == 0 else { throw Self.problem("cannot look at the spooled file") }
    guard offset >= 0, offset <= Int64(status.st_size) else {
      throw Problem(.notAllowed, "the spooled file ends at \(status.st_size), not at \(offset)")
    }
    var written = 0
    while written < piece.count {
      let count = piece.withUnsafeBytes { bytes in
        pwrite(descriptor, bytes.baseAddress! + written, bytes.count - written, off_t(offset) + off_t(written))
      }
      if count < 0, errno == EINTR { continue }
      guard count > 0 else { throw Self.problem("cannot write to the spool directory \(path)") }
      written += count
    }
    return Spool(token: token, bytes: max(Int64(status.st_size), offset + Int64(piece.count)))
  }

  /// How much is there.
  func status(_ token: String) throws(Problem) -> Spool {
    let descriptor = try openFile(token)
    defer { close(descriptor) }
    var status = stat()
    guard fstat(descriptor, &status) == 0 else { throw Self.problem("cannot look at the spooled file") }
    return Spool(token: token, bytes: Int64(status.st_size))
  }

  /// Brings the file and its names to the disk.
  /// - Returns: its path.
  func commit(_ token: String) throws(Problem) -> String {
    guard let file = file(token) else { throw Self.missing(token) }
    for path in [file, path + "/" + token, path] {
      let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW)
      guard descriptor >= 0 else { throw Self.problem("cannot open \(path)") }
      defer { close(descriptor) }
      guard fsync(descriptor) == 0 else { throw Self.problem("cannot bring \(path) to the disk") }
    }
    return file
  }

  func remove(_ token: String) {
    guard Self.isToken(token) else { return }
    if let file = file(token) { unlink(file) }
    rmdir(path + "/" + token)
  }

  /// Removes what no job needs: at once where one had it, else when its client had a day to come back.
  /// - Parameter known: the tokens of jobs, and whether each is still needed.
  func sweep(known: [String: Bool], now: Date) {
    guard let tokens = try? FileManager.default.contentsOfDirectory(atPath: path) else { return }
    for token in tokens where Self.isToken(token) {
      if let isNeeded = known[token] {
        if !isNeeded { remove(token) }
        continue
      }
      var status = stat()
      guard stat(file(token) ?? path + "/" + token, &status) == 0 else { continue }
      if now.timeIntervalSince1970 - Double(status.st_mtim.tv_sec) > Self.patience { remove(token) }
    }
  }

  private func openFile(_ token: String) throws(Problem) -> Int32 {
    guard let file = file(token) else { throw Self.missing(token) }
    let descriptor = open(file, O_RDWR | O_CLOEXEC | O_NOFOLLOW)
    guard descriptor >= 0 else { throw Self.problem("cannot open \(file)") }
    return descriptor
  }

  private static func missing(_ token: String) -> Problem { Problem(.notFound, "nothing is spooled as \(token)") }

  private static func problem(_ what: String) -> Problem {
    let code = errno
    let text = "\(what): \(String(cString: strerror(code)))"
    switch code {
    case ENOSPC, EDQUOT: return Problem(.diskFull, text)
    case EACCES, EPERM, EROFS: return Problem(.permission, text)
    default: return Problem(.internal, text)
    }
  }

  private static func hexadecimal(_ number: UInt64) -> String {
    let digits = String(number, radix: 16)
    return String(repeating: "0", count: 16 - digits.count) + digits
  }
}
