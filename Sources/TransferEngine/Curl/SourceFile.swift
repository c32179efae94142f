import FoundationEssentials
import Glibc

/// A regular file that is open for reading.
struct SourceFile {
  let path: String
  /// The size when it was opened.
  let size: Int64
  private let descriptor: Int32

  /// Pipes and devices are not opened, because they would block the loop's thread.
  /// - Throws: `.file` if the path is not a readable regular file.
  init(_ path: String) throws(TransferError) {
    let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK)
    guard descriptor >= 0 else { throw .file(.system("cannot read \(path)", errno: errno)) }
    var status = stat()
    guard fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG else {
      Glibc.close(descriptor)
      throw Self.notRegular(path)
    }
    self.path = path
    self.descriptor = descriptor
    size = Int64(status.st_size)
  }

  /// - Throws: `.file` if the path is not a regular file of at least this size.
  static func check(_ path: String, holds count: Int64) throws(TransferError) {
    var status = stat()
    guard stat(path, &status) == 0 else { throw .file(.system("cannot read \(path)", errno: errno)) }
    guard status.st_mode & S_IFMT == S_IFREG else { throw notRegular(path) }
    guard Int64(status.st_size) >= count else { throw tooShort(path) }
  }

  /// Reads at least one byte.
  /// - Throws: `.file` if there are none: the file became shorter.
  func read(from offset: Int64, into buffer: UnsafeMutableRawBufferPointer) throws(TransferError) -> Int {
    while true {
      let count = pread(descriptor, buffer.baseAddress, buffer.count, off_t(offset))
      if count > 0 { return count }
      guard count < 0 else { throw Self.tooShort(path) }
      guard errno == EINTR else { throw .file(.system("cannot read \(path)", errno: errno)) }
    }
  }

  func close() { Glibc.close(descriptor) }

  private static func notRegular(_ path: String) -> TransferError {
    .file(.io("cannot read \(path): it is not a regular file", errno: EINVAL))
  }

  private static func tooShort(_ path: String) -> TransferError {
    .file(.io("cannot send \(path): it became shorter than what was to be sent", errno: EIO))
  }
}
