import FoundationEssentials
import HTTPTypes
import Logging
import Store
import TransferAPI
import TransferEngine
import WireValues

extension FollowUpRunner {
  /// Maximum number of concurrent deliveries.
  private static let maximumConcurrentDeliveries = 4
  /// The limit for an exchange until the head of its response, which decides.
  private static let webhookTimeout = Duration.seconds(20)

  /// Why a delivery failed.
  private struct Refusal: Error {
    let reason: String
    /// The receiver does not want it again.
    var isFinal = false
  }

  /// Tells commands and webhooks what they have not got yet. At least once: an attempt that the daemon's end cuts off is
  /// repeated, with the same id.
  func deliver() async throws {
    while true {
      let due = try await store.dueDeliveries(now: Date(), limit: Self.maximumConcurrentDeliveries)
      guard !due.isEmpty else { return }
      let hooks = hooks
      try await withThrowingTaskGroup(of: Void.self) { group in
        for delivery in due { group.addTask { try await self.perform(delivery, hooks) } }
        try await group.waitForAll()
      }
    }
  }

  private nonisolated func perform(_ delivery: PendingDelivery, _ hooks: HookConfiguration) async throws {
    var metadata: Logger.Metadata = ["event": "\(delivery.event.rawValue)", "subject": "\(delivery.subject)"]
    if delivery.target == HookConfiguration.batchEndTarget {
      if let command = hooks.onBatchEnd { await run(command, delivery, hooks.timeout) }
      return try await store.settle(delivery)
    }
    guard let hook = hooks.webhooks.first(where: { $0.target == delivery.target }) else {
      logger.notice("a webhook is no longer configured; its events are dropped", metadata: metadata)
      return try await store.settle(delivery)
    }
    metadata["webhook"] = "\(Self.shown(hook))"
    do throws(Refusal) {
      try await post(delivery, to: hook)
    } catch {
      metadata["reason"] = "\(error.reason)"
      let age = Date().timeIntervalSince(delivery.createdAt)
      guard !error.isFinal, age < Webhook.maximumAge else {
        logger.error("gave up telling a webhook", metadata: metadata)
        return try await store.settle(delivery)
      }
      logger.info("cannot tell a webhook yet", metadata: metadata)
      let delay = Webhook.delay(afterAttempt: delivery.attempts + 1)  // checked: a count of attempts in one day
      return try await store.postpone(delivery, until: Date().addingTimeInterval(delay))
    }
    try await store.settle(delivery)
  }

  /// A path may hold a secret, too.
  private nonisolated static func shown(_ hook: Webhook) -> String {
    (try? RequestURL(hook.url))?.origin ?? "an unknown URL"
  }

  private nonisolated func run(_ command: Command, _ delivery: PendingDelivery, _ timeout: Duration) async {
    let end = await command.run(
      input: delivery.payload + "\n",
      environment: ["TRANSFERD_BATCH": delivery.subject, "TRANSFERD_EVENT": delivery.event.rawValue],
      timeout: timeout)
    let metadata: Logger.Metadata = ["batch": "\(delivery.subject)", "hook": "onBatchEnd", "end": "\(end)"]
    if end == .exited(0) {
      logger.info("a hook ended", metadata: metadata)
    } else {
      logger.warning("a hook failed", metadata: metadata)
    }
  }

  private nonisolated func post(_ delivery: PendingDelivery, to hook: Webhook) async throws(Refusal) {
    var request: TransferRequest
    do throws(TransferError) {
      request = TransferRequest(url: try RequestURL(hook.url), method: .post)
    } catch {
      throw Refusal(reason: "\(error)")
    }
    let timestamp = String(CheckedNumber(rounding: Date().timeIntervalSince1970.rounded(.down)).value ?? 0)
    request.headers[.contentType] = "application/json"
    for (name, value) in [("webhook-id", delivery.message), ("webhook-timestamp", timestamp)] {
      if let name = HTTPField.Name(name) { request.headers[name] = value }
    }
    if let reference = hook.secret, let name = HTTPField.Name("webhook-signature") {
      do throws(SecretResolver.Unavailable) {
        let secret = try await runner.secrets.secret(reference)
        request.headers[name] = Webhook.signature(
          id: delivery.message, timestamp: timestamp, body: delivery.payload, secret: secret)
      } catch {
        throw Refusal(reason: "\(error)")
      }
    }
    request.body = .data(Data(delivery.payload.utf8))
    request.redirects = .sameOrigin
    (request.connectTimeout, request.stallTimeout) = (Self.webhookTimeout, Self.webhookTimeout)
    request.connection.proxy = runner.network.proxy(for: request.url.origin).configuration
    let (head, error) = await runner.session.send(request, within: Self.webhookTimeout)
    if let error { throw Refusal(reason: "\(error)") }
    guard let status = head?.status, (200..<300).contains(status) else {
      let status = head?.status ?? 0
      // The receiver says that it is gone for good (RFC 9110 §15.5.11).
      throw Refusal(reason: "the receiver answered \(status)", isFinal: status == 410)
    }
  }
}
