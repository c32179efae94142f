import Glibc
import WireValues

/// The version of a file on this machine, as far as the file system shows it. Each usual way to change a file changes one of
/// these.
public struct FileStamp: Hashable, Sendable {
  /// In bytes.
  public var size: Int64
  /// Nanoseconds since 1970.
  public var modified: Int64
  public var inode: UInt64

  /// A stamp of these values.
  public init(size: Int64, modified: Int64, inode: UInt64) {
    self.size = size
    self.modified = modified
    self.inode = inode
  }

  /// The stamp of the regular file at a path; `nil` for none, and for anything else. Does not follow a symbolic link at its
  /// end. Blocks.
  public init?(path: String) {
    var status = stat()
    guard lstat(path, &status) == 0, status.st_mode & S_IFMT == S_IFREG else { return nil }
    self.init(status)
  }

  /// `nil` for a time that does not fit.
  init?(_ status: stat) {
    let time = CheckedNumber(status.st_mtim.tv_sec) * 1_000_000_000 + status.st_mtim.tv_nsec
    guard let modified = time.value else { return nil }
    self.init(size: Int64(status.st_size), modified: modified, inode: UInt64(status.st_ino))
  }

  /// The time in whole seconds, rounded down, as HTTP dates and FTP have it.
  var modifiedSecond: Int64 { Self.second(modified) }

  static func second(_ nanoseconds: Int64) -> Int64 {
    let (second, rest) = nanoseconds.quotientAndRemainder(dividingBy: 1_000_000_000)
    return rest < 0 ? second - 1 : second  // checked: a quotient of an Int64
  }
}

extension Directory {
  /// What has a name in a directory.
  enum Entry: Hashable, Sendable {
    /// A regular file.
    case file(FileStamp)
    /// A directory, a symbolic link, a device.
    case other
  }

  /// `nil`: the name is free.
  func entry(_ name: String) -> Entry? {
    var status = stat()
    guard fstatat(descriptor, name, &status, AT_SYMLINK_NOFOLLOW) == 0 else { return nil }
    guard status.st_mode & S_IFMT == S_IFREG, let stamp = FileStamp(status) else { return .other }
    return .file(stamp)
  }
}
