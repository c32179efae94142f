import FoundationEssentials
import Logging
import Store
import TransferAPI
import TransferEngine
import WireValues

extension FollowUpRunner {
  /// Maximum number of concurrent cleanups.
  private static let maximumConcurrentCleanups = 4
  /// Maximum delay in seconds between two attempts.
  static let maximumCleanupDelay = 3600.0
  /// A cleanup is given up after this time in seconds, because the server is gone or does not allow it.
  private static let maximumCleanupAge: TimeInterval = 30 * 86400

  /// Deletes the unfinished uploads of cancelled jobs on their servers.
  func cleanUpServers() async throws {
    while true {
      let due = try await store.dueRemoteCleanups(now: Date(), limit: Self.maximumConcurrentCleanups)
      guard !due.isEmpty else { return }
      try await withThrowingTaskGroup(of: Void.self) { group in
        for cleanup in due { group.addTask { try await self.perform(cleanup) } }
        try await group.waitForAll()
      }
    }
  }

  private nonisolated func perform(_ cleanup: RemoteCleanup) async throws {
    let error: TransferError
    do throws(TransferError) {
      let upload = try runner.fileUpload(cleanup.spec, .init())
      try await runner.session.abandon(
        upload, ledger: cleanup.ledger, interceptor: try runner.interceptor(for: cleanup.spec))
      return try await done(cleanup)
    } catch let failure {
      error = failure
    }
    let age = Date().timeIntervalSince(cleanup.createdAt)
    let server = cleanup.spec.origin
    guard age < Self.maximumCleanupAge else {
      logger.error(
        "gave up deleting an unfinished upload on the server",
        metadata: ["job": "\(cleanup.job)", "origin": "\(server)", "error": "\(error)"])
      return try await store.settle(
        cleanup, reason: "gave up deleting the unfinished upload on \(server): \(error)", at: Date())
    }
    let delay = Backoff.seconds(afterFailure: cleanup.attempts.saturatingSum(1), atMost: Self.maximumCleanupDelay)
    logger.info(
      "cannot delete an unfinished upload on the server yet",
      metadata: ["job": "\(cleanup.job)", "origin": "\(server)", "error": "\(error)"])
    try await store.postpone(cleanup, until: Date().addingTimeInterval(delay))
  }

  private nonisolated func done(_ cleanup: RemoteCleanup) async throws(TransferError) {
    do {
      let isVisible = UploadLedger(cleanup.ledger).map { $0.protocolName != "plain" } ?? false
      let reason = isVisible ? "deleted the unfinished upload on \(cleanup.spec.origin)" : nil
      try await store.settle(cleanup, reason: reason, at: Date())
    } catch {
      throw .hook(.journal, error)
    }
  }
}
