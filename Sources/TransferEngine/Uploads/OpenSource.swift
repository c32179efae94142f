import Glibc

/// Which version of a file: any change of it changes one of these.
public struct SourceIdentity: Sendable, Hashable, Codable {
  /// The device (`st_dev`).
  public var device: UInt64
  /// The inode (`st_ino`).
  public var inode: UInt64
  /// Bytes.
  public var size: Int64
  /// Nanoseconds since 1970.
  public var modified: Int64

  /// What tells whether a file is still the one that was opened.
  public init(device: UInt64, inode: UInt64, size: Int64, modified: Int64) {
    self.device = device
    self.inode = inode
    self.size = size
    self.modified = modified
  }

  /// A file's owner may set any time (utimensat(2)). Times beyond the year 2262 wrap around, for they are only compared.
  init(_ status: stat) {
    self.init(
      device: UInt64(status.st_dev), inode: UInt64(status.st_ino), size: Int64(status.st_size),
      modified: Int64(status.st_mtim.tv_sec) &* 1_000_000_000 &+ Int64(status.st_mtim.tv_nsec))
  }

  /// The file that stands under this path now.
  /// - Throws: `.source(.missing)`, `.source(.notRegular)`, `.file` where it cannot be looked at.
  public init(path: String) throws(TransferError) {
    var status = stat()
    guard stat(path, &status) == 0 else { throw OpenSource.failure(path, errno) }
    guard status.st_mode & S_IFMT == S_IFREG else { throw .source(.notRegular(path)) }
    self.init(status)
  }
}

/// A file that is being sent: one descriptor for a whole attempt, so that all its bytes are those of one file, whatever
/// happens to the name. No memory map: a file that shrinks is an error here, not a signal.
final class OpenSource: Sendable {
  let path: String
  let descriptor: Int32
  /// As it was when it was opened.
  let identity: SourceIdentity

  var size: Int64 { identity.size }
  /// All its bytes.
  var range: Range<Int64> { 0..<size }  // checked: fstat(2) says no size below 0
  /// The last component of the path.
  var name: String { String(path[(path.lastIndex(of: "/").map(path.index(after:)) ?? path.startIndex)...]) }

  /// - Throws: `.source(.missing)`, `.source(.notRegular)`; `.file` if it must not be read, or the rules refuse it.
  init(path: String, rules: PathRules = .none) throws(TransferError) {
    // Neither waits for a FIFO's writer nor takes a terminal: the type is known only afterwards.
    let descriptor = try rules.openFile(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK)
    guard descriptor >= 0 else { throw Self.failure(path, errno) }
    var status = stat()
    guard fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG else {
      close(descriptor)
      throw .source(.notRegular(path))
    }
    self.path = path
    self.descriptor = descriptor
    identity = SourceIdentity(status)
  }

  deinit { close(descriptor) }

  /// Whether the open file is as it was when it was opened.
  /// - Throws: `.source(.changed)`.
  func checkDescriptor() throws(TransferError) {
    var status = stat()
    guard fstat(descriptor, &status) == 0, SourceIdentity(status) == identity else { throw .source(.changed(path)) }
  }

  /// Whether the open file is as it was, and no other one stands under its name. A name that is gone is no other version:
  /// what was sent is whole.
  /// - Throws: `.source(.changed)`.
  func check() throws(TransferError) {
    try checkDescriptor()
    do throws(TransferError) {
      guard try SourceIdentity(path: path) == identity else { throw .source(.changed(path)) }
    } catch .source(.missing) {
      return
    }
  }

  /// Bytes read, at least one. The end of the file is an error: `offset` lies before it by the file's own word.
  /// - Throws: `.source(.changed)`, `.file`.
  func read(into buffer: UnsafeMutableRawBufferPointer, at offset: Int64) throws(TransferError) -> Int {
    while true {
      let count = pread(descriptor, buffer.baseAddress, buffer.count, off_t(offset))
      if count > 0 { return count }
      guard count < 0 else { throw .source(.changed(path)) }
      if errno == EINTR { continue }
      throw .file(.system("cannot read \(path)", errno: errno))
    }
  }

  /// Hands a range over piece by piece, for digests. Blocks: for `BlockingIO`.
  func forEachPiece(
    of range: Range<Int64>, _ body: (UnsafeRawBufferPointer) -> Void
  ) throws(TransferError) {
    let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 1 << 20, alignment: 16)
    defer { buffer.deallocate() }
    var offset = range.lowerBound
    while offset < range.upperBound {
      // checked: offset runs from the lower bound to the upper
      let wanted = Int(min(Int64(buffer.count), range.upperBound - offset))
      let count = try read(into: .init(rebasing: buffer[..<wanted]), at: offset)
      body(.init(rebasing: buffer[..<count]))
      offset += Int64(count)  // checked: at most the upper bound
    }
    try checkDescriptor()
  }

  static func failure(_ path: String, _ code: Int32) -> TransferError {
    switch code {
    case ENOENT, ENOTDIR: .source(.missing(path))
    default: .file(.system("cannot read \(path)", errno: code))
    }
  }
}
