import Glibc
public import WireValues

/// Identifies a version of a file: any change of the file changes it.
public typealias SourceIdentity = WireValues.SourceIdentity

extension SourceIdentity {
  init(_ status: stat) {
    self.init(
      device: UInt64(status.st_dev), inode: UInt64(status.st_ino), size: Int64(status.st_size),
      seconds: status.st_mtim.tv_sec, nanoseconds: status.st_mtim.tv_nsec)
  }

  /// The version of the file at this path.
  /// - Throws: `.source(.missing)`, `.source(.notRegular)`, `.file` if it cannot be examined.
  public init(path: String) throws(TransferError) {
    var status = stat()
    guard stat(path, &status) == 0 else { throw OpenSource.failure(path, errno) }
    guard status.st_mode & S_IFMT == S_IFREG else { throw .source(.notRegular(path)) }
    self.init(status)
  }
}
