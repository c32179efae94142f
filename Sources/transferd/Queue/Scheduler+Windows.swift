import FoundationEssentials
import Logging
import Store
import TransferAPI
import TransferEngine

/// Windows: the hours of the day in which jobs may run. Part of the check of times, so that nothing runs for them between two of
/// their times.
extension Scheduler {
  /// Seconds until the next look while a job runs outside its window: its transfer may turn out to be resumable.
  private static let outsideInterval = 10.0

  /// Closes and opens windows in the store, and stops the transfers whose windows are closed, if they can be resumed. The others
  /// may finish.
  /// - Returns: the time of the next look; `nil`: none is needed.
  func applyWindows() async throws -> Date? {
    let windows = try await store.windows()
    guard !windows.isEmpty || !queue.closedWindows.isEmpty else { return nil }
    let now = Date()
    let localTime = localTime
    let plan = await BlockingWork.run { WindowPlan(windows, at: now, localTime) }
    // First, so that none of these jobs is claimed meanwhile.
    send(.windowsChanged(plan.closed))
    let (opened, running) = try await store.applyWindows(closed: plan.closed, open: plan.open)
    if opened > 0 { wake() }
    let resumable = running.filter { queue.attempts[$0]?.isResumable == true }
    if !resumable.isEmpty {
      logger.info("windows of running jobs have closed", metadata: ["jobs": "\(resumable.count)"])
      stop(resumable, .window)
    }
    guard !running.isEmpty else { return plan.next }
    let soon = now.addingTimeInterval(Self.outsideInterval)
    return min(plan.next ?? soon, soon)
  }

  /// Whether the job runs although its window is closed.
  func isOutsideWindow(_ record: JobRecord) -> Bool {
    guard record.job.state == .running, let window = record.spec.options.schedule.window else { return false }
    return queue.closedWindows[window] != nil && queue.attempts[record.job.id]?.stop == nil
  }
}

extension JobRecord {
  /// Whether its transfer is known to continue where it is stopped, from an earlier attempt.
  var isResumable: Bool {
    switch spec.transferKind {
    case .download: resumeData.flatMap { ResumeData($0) }?.servesRanges == true
    case .upload: resumeData.flatMap { UploadLedger($0) }?.isResumable == true
    // It goes on at its page.
    case .listing: true
    case .relay: preconditionFailure("a relay transfers as a download or an upload")
    }
  }
}
