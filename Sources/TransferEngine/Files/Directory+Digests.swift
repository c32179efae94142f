import CLinux
import Glibc

extension Directory {
  /// The digests of a regular file; `nil` if it is none, cannot be read, or is not this version before and after it was read.
  /// Does not follow symbolic links. Blocks.
  /// - Parameter isRestricted: files with several names are not read: one of them may be outside of the allowed directories.
  func digests(
    of name: String, _ stamp: FileStamp, _ algorithms: Set<DigestAlgorithm>, isRestricted: Bool
  ) -> [DigestAlgorithm: String]? {
    let file = linux_openat(descriptor, name, O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK | O_NOCTTY, 0)
    guard file >= 0 else { return nil }
    defer { close(file) }
    guard Self.is(file, stamp, isRestricted: isRestricted) else { return nil }
    var digester = Digester(algorithms)
    let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 1 << 20, alignment: 4096)
    defer { buffer.deallocate() }
    while true {
      let count = read(file, buffer.baseAddress!, buffer.count)
      if count < 0, errno == EINTR { continue }
      guard count >= 0 else { return nil }
      if count == 0 { break }
      digester.update(UnsafeRawBufferPointer(rebasing: buffer[..<count]))
    }
    return Self.is(file, stamp, isRestricted: isRestricted) ? digester.finalize() : nil
  }

  private static func `is`(_ file: Int32, _ stamp: FileStamp, isRestricted: Bool) -> Bool {
    var status = stat()
    guard fstat(file, &status) == 0, status.st_mode & S_IFMT == S_IFREG else { return false }
    return FileStamp(status) == stamp && (!isRestricted || status.st_nlink == 1)
  }
}
