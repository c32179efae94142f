import FoundationEssentials
import Logging
import Store
import TransferAPI
import TransferEngine

extension AftermathRunner {
  /// Servers that are spoken to at once.
  private static let atOnce = 4
  private static let maximumDelay = 3600.0
  /// After this long the server is taken to be gone for good, or never to allow it.
  private static let patience: TimeInterval = 30 * 86400

  /// Has servers forget the uploads that nobody wants any more.
  func abandon() async throws {
    while true {
      let due = try await store.dueAbandonments(now: Date(), limit: Self.atOnce)
      guard !due.isEmpty else { return }
      try await withThrowingTaskGroup(of: Void.self) { group in
        for abandonment in due { group.addTask { try await self.abandon(abandonment) } }
        try await group.waitForAll()
      }
    }
  }

  private nonisolated func abandon(_ abandonment: Abandonment) async throws {
    let error: TransferError
    do throws(TransferError) {
      let upload = try runner.fileUpload(abandonment.spec, .init())
      try await runner.session.abandon(
        upload, ledger: abandonment.ledger, interceptor: SecretAdapter(abandonment.spec, runner.secrets))
      return try await done(abandonment)
    } catch let failure {
      error = failure
    }
    let age = Date().timeIntervalSince(abandonment.createdAt)
    let server = abandonment.spec.origin
    guard age < Self.patience else {
      logger.error(
        "gave up taking an upload back",
        metadata: ["job": "\(abandonment.job)", "origin": "\(server)", "error": "\(error)"])
      return try await store.settle(
        abandonment, reason: "gave up taking back what \(server) holds: \(error)", at: Date())
    }
    let delay = min(Self.maximumDelay, Double(1 << min(abandonment.tries, 12)))
    logger.info(
      "an upload could not be taken back yet",
      metadata: ["job": "\(abandonment.job)", "origin": "\(server)", "error": "\(error)"])
    try await store.postpone(abandonment, until: Date().addingTimeInterval(delay))
  }

  private nonisolated func done(_ abandonment: Abandonment) async throws(TransferError) {
    do {
      let isVisible = UploadLedger(abandonment.ledger).map { $0.protocolName != "plain" } ?? false
      let reason = isVisible ? "took back what \(abandonment.spec.origin) held of it" : nil
      try await store.settle(abandonment, reason: reason, at: Date())
    } catch {
      throw .hook(.journal, error)
    }
  }
}
