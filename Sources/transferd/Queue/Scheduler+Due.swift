import FoundationEssentials
import Logging
import Store
import Threads
import TransferAPI

/// Start times, deadlines and windows of jobs. Between two of these times nothing runs for them.
extension Scheduler {
  /// The check of start times and deadlines, and the alarm for the next one.
  struct TimeCheck {
    var isRunning = false
    /// Something has changed since the check began.
    var isStale = false
    var alarm: Task<Void, Never>?
  }

  /// Seconds until the next check while an attempt stops because of its deadline.
  private static let stoppingInterval = 1.0
  /// The longest time in seconds between two checks.
  private static let longestInterval = 86_400.0

  /// Call this at the start, after jobs with times were added or may run again, and after the wall clock was set. Never waits.
  func checkTimes() {
    timeCheck.isStale = true
    guard !timeCheck.isRunning, !isStopping else { return }
    timeCheck.isRunning = true
    Task { await runTimeChecks() }
  }

  /// The same at the start of the daemon, before a job may begin whose deadline has passed meanwhile.
  func checkTimesFirst() async {
    timeCheck.isStale = true
    // A job may have been added already.
    guard !timeCheck.isRunning else { return }
    timeCheck.isRunning = true
    await runTimeChecks()
  }

  /// The wall clock was set: other times may be due now.
  func clockChanged() {
    countQuota()
    checkTimes()
    wake()
  }

  private func runTimeChecks() async {
    var delay: TimeInterval?
    while timeCheck.isStale {
      timeCheck.isStale = false
      delay = await applyDueTimes()
    }
    timeCheck.isRunning = false
    timeCheck.alarm?.cancel()
    timeCheck.alarm = nil
    guard let delay, !isStopping else { return }
    timeCheck.alarm = Task {
      do { try await Task.pause(for: .seconds(delay)) } catch { return }
      self.checkTimes()
    }
  }

  /// - Returns: the seconds until the next check; `nil`: none is needed.
  private func applyDueTimes() async -> TimeInterval? {
    do {
      let windows = try await applyWindows()
      let due = try await store.applyDueTimes(at: Date(), wantsHook: limits.hooks.wantsHook(after: .expire))
      if due.released > 0 { wake() }
      if !due.expired.isEmpty {
        logger.notice("jobs have missed their deadlines", metadata: ["jobs": "\(due.expired.count)"])
        await didWithdraw(due.expired)
      }
      guard due.running.isEmpty else {
        stop(due.running, .deadline)
        return Self.stoppingInterval
      }
      // Never 0: the alarm's clock and the wall clock may differ slightly.
      let next = [due.next, windows].compactMap { $0 }.min()
      return next.map { min(max(0.001, $0.timeIntervalSinceNow), Self.longestInterval) }
    } catch {
      logger.error("cannot check start times and deadlines", metadata: ["error": "\(error)"])
      // Some of the jobs may have changed before the error.
      try? await loadBlockingUploads()
      await didWithdraw([])
      wake()
      return JobQueue.failureDelay
    }
  }
}
