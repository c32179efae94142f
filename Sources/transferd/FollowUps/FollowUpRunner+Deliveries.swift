import FoundationEssentials
import HTTPTypes
import Logging
import Store
import Threads
import TransferAPI
import TransferEngine
import WireValues

extension FollowUpRunner {
  /// Maximum number of concurrent deliveries to one target.
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
  /// repeated, with the same id. Each target has a task, so that none waits for another one. Returns at once.
  func deliver() async throws {
    let now = Date()
    for (target, time) in try await store.deliveryTimes() where time <= now {
      guard busyTargets.begin(target) else { continue }
      Task { await self.tell(target) }
    }
  }

  private func tell(_ target: String) async {
    repeat {
      do {
        try await deliver(to: target)
      } catch StoreError.closed {
        return
      } catch {
        logger.error("cannot run follow-up actions", metadata: ["error": "\(error)"])
        // What is due stays due.
        try? await Task.pause(for: FollowUpTimetable.retryDelay)
        _ = busyTargets.begin(target)
      }
    } while !busyTargets.end(target)
    await setAlarm()
  }

  /// Tells the target what is due. While it is in back-off, one event asks whether it is there again.
  private func deliver(to target: String) async throws {
    while true {
      let due = try await store.dueDeliveries(to: target, now: Date(), limit: Self.maximumConcurrentDeliveries)
      guard let first = due.first else { return }
      let hooks = hooks
      try await withThrowingTaskGroup(of: Void.self) { group in
        for delivery in due.prefix(first.attempts > 0 ? 1 : due.count) {
          group.addTask { try await self.perform(delivery, hooks) }
        }
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
    metadata["webhook"] = "\(hook.shown)"
    do throws(Refusal) {
      try await post(delivery, to: hook)
    } catch {
      metadata["reason"] = "\(error.reason)"
      guard !error.isFinal else {
        logger.error("gave up telling a webhook", metadata: metadata)
        return try await store.settle(delivery)
      }
      return try await postpone(delivery, metadata)
    }
    try await store.settle(delivery)
  }

  private nonisolated func postpone(_ delivery: PendingDelivery, _ metadata: Logger.Metadata) async throws {
    let now = Date()
    let delay = Webhook.delay(afterAttempt: delivery.attempts.saturatingSum(1))
    let givenUp = try await store.postpone(
      delivery, until: now.addingTimeInterval(delay),
      givingUpThrough: now.addingTimeInterval(-Webhook.maximumAge))
    guard givenUp > 0 else { return logger.info("cannot tell a webhook yet", metadata: metadata) }
    logger.error("gave up telling a webhook", metadata: metadata.merging(["events": "\(givenUp)"]) { $1 })
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
