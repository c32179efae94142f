import Store
import TransferAPI

/// What running attempts report to the scheduler.
struct AttemptReports: Sendable {
  /// All bytes of these transfers have arrived.
  let transferred: @Sendable ([FinishedTransfer]) async -> Void
  /// A running attempt, under the claim with this fence, transfers a file that is not small.
  let foundLarge: @Sendable (JobID, _ fence: Int64) async -> Void
  /// These attempts have ended.
  let ended: @Sendable ([(JobID, AttemptResponse)]) async -> Void
  /// A listing has added these jobs; some may have a start time or a deadline.
  var added: @Sendable ([Submission], _ haveTimes: Bool) async -> Void = { _, _ in }
  /// A running attempt, under the claim with this fence, can be stopped and continued later without loss.
  var foundResumable: @Sendable (JobID, _ fence: Int64) async -> Void = { _, _ in }
  /// A download asks for one more connection with its origin.
  var acquireConnection: @Sendable (_ origin: String) async -> Bool = { _ in true }
  /// It gives one back.
  var releaseConnection: @Sendable (_ origin: String) async -> Void = { _ in }
}
