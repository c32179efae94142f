import FoundationEssentials
import Logging
import Store
import Threads
import TransferAPI

/// Jobs that wait for other jobs. The store keeps what has to be looked at; here is decided when.
extension Scheduler {
  struct DependencyCheck {
    /// A job may wait for another one. Without such a job, nothing is done when a job ends.
    var isNeeded = false
    var isRunning = false
    /// Something has ended since the check began.
    var isStale = false
  }

  /// Called at the start.
  func loadDependencies() async throws { dependencyCheck.isNeeded = try await store.hasDependencies() }

  /// Called after a job was added that waits for others.
  func followDependencies() {
    dependencyCheck.isNeeded = true
    resolveDependencies()
  }

  /// Call this at the start, and after jobs have ended, were removed or are to run again. Never waits.
  func resolveDependencies() {
    guard dependencyCheck.isNeeded, !isStopping else { return }
    dependencyCheck.isStale = true
    guard !dependencyCheck.isRunning else { return }
    dependencyCheck.isRunning = true
    Task { await runDependencyChecks() }
  }

  private func runDependencyChecks() async {
    while dependencyCheck.isStale {
      dependencyCheck.isStale = false
      do {
        let changes = try await store.resolveDependencies(
          at: Date(), wantsHook: limits.hooks.wantsHook(after: .expire))
        if changes.completed > 0 { wake() }
        guard !changes.failed.isEmpty else { continue }
        logger.notice(
          "jobs have failed with jobs that they waited for", metadata: ["jobs": "\(changes.failed.count)"])
        await didWithdraw(changes.failed)
      } catch {
        guard error != .closed, !isStopping else { break }
        logger.error("cannot look at jobs that wait for others", metadata: ["error": "\(error)"])
        // Some of them may have changed before the error.
        try? await loadBlockingUploads()
        wake()
        dependencyCheck.isStale = true
        try? await Task.pause(for: .seconds(JobQueue.failureDelay))
      }
    }
    dependencyCheck.isRunning = false
  }
}
