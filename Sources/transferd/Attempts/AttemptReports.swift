import TransferAPI

/// What running attempts report to the scheduler.
struct AttemptReports: Sendable {
  /// All bytes of these attempts have arrived; the fence names the claim.
  let transferred: @Sendable ([(JobID, fence: Int64)]) async -> Void
  /// These attempts have ended.
  let ended: @Sendable ([(JobID, AttemptResponse)]) async -> Void
}
