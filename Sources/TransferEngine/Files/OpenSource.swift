import Glibc
import WireValues

/// A file that is being sent: one descriptor for a whole attempt, so that all bytes come from one file even if its name
/// changes. It is not mapped into memory: a file that shrinks is an error here, not a signal.
final class OpenSource: Sendable {
  let path: String
  let descriptor: Int32
  /// The version when the file was opened.
  let identity: SourceIdentity

  var size: Int64 { identity.size }
  /// The whole file.
  var range: Range<Int64> { 0..<size }  // checked: fstat(2) says no size below 0
  /// The last component of the path.
  var name: String { String(path.baseName) }

  /// - Throws: `.source(.missing)`, `.source(.notRegular)`, `.source(.lengthUnknown)`; `.file` if it cannot be read or
  ///   the rules refuse it.
  init(path: String, rules: PathRules = .none) throws(TransferError) {
    // Does not wait for the writer of a FIFO, and does not make a terminal the controlling one: the type is known only
    // after opening.
    let descriptor = try rules.openFile(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK)
    guard descriptor >= 0 else { throw Self.failure(path, errno) }
    var status = stat()
    guard fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG else {
      close(descriptor)
      throw .source(.notRegular(path))
    }
    // Files of /proc, and of some file systems in user space, have bytes but no length: nothing of them would be sent,
    // and the upload would count as complete.
    if status.st_size == 0, Self.hasBytes(descriptor) {
      // Another program may have begun to write it.
      guard fstat(descriptor, &status) == 0, status.st_size > 0 else {
        close(descriptor)
        throw .source(.lengthUnknown(path))
      }
    }
    self.path = path
    self.descriptor = descriptor
    identity = SourceIdentity(status)
  }

  deinit { close(descriptor) }

  /// Checks that the open file is unchanged.
  /// - Throws: `.source(.changed)`.
  func checkDescriptor() throws(TransferError) {
    var status = stat()
    guard fstat(descriptor, &status) == 0, SourceIdentity(status) == identity else { throw .source(.changed(path)) }
  }

  /// Checks that the open file is unchanged, and that its name has not been given to another file. A name that was
  /// deleted is no change.
  /// - Throws: `.source(.changed)`.
  func check() throws(TransferError) {
    try checkDescriptor()
    do throws(TransferError) {
      guard try SourceIdentity(path: path) == identity else { throw .source(.changed(path)) }
    } catch .source(.missing) {
      return
    }
  }

  /// Reads bytes, at least one. Reaching the end of the file before its recorded size is an error.
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

  /// Passes a range on piece by piece, for digests. Blocks: call it in `BlockingIO`.
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

  private static func hasBytes(_ descriptor: Int32) -> Bool {
    var byte: UInt8 = 0
    return pread(descriptor, &byte, 1, 0) == 1
  }

  static func failure(_ path: String, _ code: Int32) -> TransferError {
    switch code {
    case ENOENT, ENOTDIR: .source(.missing(path))
    default: .file(.system("cannot read \(path)", errno: code))
    }
  }
}
