import Store
import TransferAPI
import TransferEngine
import WireValues

/// What to do with a job that was running when the daemon ended. Pure: the state of the disk is passed in.
///
/// A download finishes in these steps: sync the bytes → store in the row which file will be renamed → rename it → sync the
/// directory → set the row to `completed`. After an interruption, the two file names show which steps were done.
enum Recovery: Equatable, Sendable {
  /// The job waits for its next attempt; the engine then determines what it can use of the part file.
  case requeue
  /// The job was running at too many abrupt ends of the daemon. Other jobs run first, and this one waits before its next
  /// attempt.
  case postpone(attempt: Int)
  /// The file was renamed, but the row was not updated: sync the directory, then complete the job.
  case complete

  /// Number of consecutive abrupt ends without progress after which the job is postponed.
  static let toleratedCrashes = 5

  /// - Parameters:
  ///   - finishing: the file that was about to be renamed.
  ///   - atPartName: the file with the part file's name.
  ///   - atDestination: the file with the destination's name.
  ///   - crashes: consecutive abrupt ends while the job was running.
  init(
    finishing: FileIdentity?, atPartName: FileIdentity?, atDestination: FileIdentity?, crashes: Int
  ) {
    switch (finishing, atPartName, atDestination) {
    // On file systems without RENAME_NOREPLACE the rename is a link and an unlink, so both names may exist.
    case (let file?, let part, let destination?) where file == destination && (part == nil || part == file):
      self = .complete
    case (_?, _, _), (nil, _, _): self.init(crashes: crashes)
    }
  }

  /// For an upload, whose progress is known from the server.
  init(crashes: Int) {
    self =
      crashes >= Self.toleratedCrashes
      ? .postpone(attempt: (crashes - Self.toleratedCrashes).saturatingSum(1)) : .requeue
  }
}
