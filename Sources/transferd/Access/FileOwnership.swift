import Glibc

/// Decides which files a job may delete or move after their upload. The daemon does this with its own permissions, so a
/// member's job may delete or move only the member's own files.
enum FileOwnership {
  /// - Parameters:
  ///   - file: the uid of the file's owner.
  ///   - job: the uid of the job's owner.
  ///   - daemon: the daemon's uid.
  static func mayRemove(fileOf file: UInt32, jobOf job: UInt32, daemon: UInt32 = geteuid()) -> Bool {
    file == job || Caller(uid: job, daemon: daemon).has(.filesOfOthers)
  }
}
