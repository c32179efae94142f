import Glibc

/// Which files a job may delete or move once they are uploaded. The daemon does so with its own rights, so a member's job may
/// touch the member's own files only.
enum FileOwnership {
  /// - Parameters:
  ///   - file: the uid that the file belongs to.
  ///   - job: the uid of the user who submitted the job.
  ///   - daemon: the daemon's uid.
  static func mayRemove(fileOf file: UInt32, jobOf job: UInt32, daemon: UInt32 = geteuid()) -> Bool {
    job == daemon || job == 0 || file == job
  }
}
