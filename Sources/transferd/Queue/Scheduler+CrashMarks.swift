import Logging
import Store
import Threads
import TransferAPI

/// Isolation: a job that was running at more than one crash of the daemon runs without any other job.
extension Scheduler {
  /// Called at the start: finds out whether there are such jobs.
  func loadCrashMarks() async throws {
    if try await store.hasJobsToRunAlone() { send(.isolationNeeded) }
  }

  /// Other jobs may start when the attempt has blocked them for this long, even if it continues.
  func limitIsolation(_ attempt: JobQueue.IsolatedAttempt, _ limit: Duration) {
    logger.notice(
      "running a job alone because the daemon crashed while it ran",
      metadata: ["job": "\(attempt.job)", "crashes": "\(active[attempt.job]?.record.crashMarks ?? 0)"])
    Task {
      try? await Task.pause(for: limit)
      self.endIsolation(attempt)
    }
  }

  /// The job keeps its crash marks until its attempt ends.
  private func endIsolation(_ attempt: JobQueue.IsolatedAttempt) {
    guard queue.isolated == attempt, !isStopping else { return }
    logger.notice(
      "a job that runs alone reached its time limit; other jobs may start", metadata: ["job": "\(attempt.job)"])
    send(.isolationLimitReached(attempt))
  }
}
