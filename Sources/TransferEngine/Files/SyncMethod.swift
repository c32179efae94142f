import WireValues

/// How the bytes of several new files are synced to disk. Pure.
enum SyncMethod: Equatable, Sendable {
  /// `fdatasync(2)` for each file.
  case eachFile
  /// One `syncfs(2)` for all. It also waits for data of other programs.
  case fileSystem

  /// Below this number of files, `fdatasync` costs less: a group of 64 files on ext4 takes 14 to 30 ms with `syncfs`,
  /// and 32 to 70 ms with `fdatasync`; small groups gain nothing.
  static let minimumFiles = 32
  /// Unwritten bytes of other programs for which a group may have to wait.
  static let maximumForeignBytes: Int64 = 64 << 20

  /// - Parameters:
  ///   - files: how many files are synced.
  ///   - bytes: how many bytes they have.
  ///   - isSupported: the file system is a local one whose `syncfs` reports failed writes, and no earlier call is stuck.
  ///   - unwritten: bytes that the system has not written to disk yet, those of the files included; `nil`: unknown.
  init(files: Int, bytes: Int64, isSupported: Bool, unwritten: @autoclosure () -> Int64?) {
    self = .eachFile
    guard files >= Self.minimumFiles, isSupported, let unwritten = unwritten() else { return }
    if unwritten <= Self.maximumForeignBytes.saturatingSum(bytes) { self = .fileSystem }
  }
}
