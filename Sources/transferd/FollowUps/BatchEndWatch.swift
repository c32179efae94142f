import FoundationEssentials
import Logging
import Store
import Threads
import TransferAPI

/// Reports that a batch has ended when nothing in it was unfinished for a while. It does no work, and the store none for it, while
/// neither a command nor a webhook wants to know.
struct BatchEndWatch: Sendable {
  let store: Store
  let followUps: FollowUpRunner
  let logger: Logger
  /// An element when a batch may have ended.
  let signals: AsyncStream<Void>

  /// How long nothing in a batch may be unfinished before it has ended.
  static let quietTime = Duration.seconds(5)
  /// Time between two checks of batches that may have ended.
  private static let interval = Duration.milliseconds(500)
  /// Time until the next look after the store has failed.
  private static let failureDelay = Duration.seconds(10)
  /// Batches that are examined together; others wait for these.
  private static let maximumBatches = 1000

  /// Runs until the task is cancelled.
  func run() async {
    // Ends that were noticed, each with the time of its first look: after a restart the quiet time begins anew.
    var seen: [Int64: ContinuousClock.Instant] = [:]
    for await _ in signals {
      while !Task.isCancelled {
        var pause = Self.interval
        do {
          seen = try await look(seen)
          if seen.isEmpty { break }
        } catch {
          if error == .closed { return }
          logger.error("cannot report ends of batches", metadata: ["error": "\(error)"])
          pause = Self.failureDelay
        }
        do { try await Task.pause(for: pause) } catch { return }
      }
    }
  }

  /// - Returns: the ends that are not reported yet.
  private func look(
    _ seen: [Int64: ContinuousClock.Instant]
  ) async throws(StoreError) -> [Int64: ContinuousClock.Instant] {
    let now = ContinuousClock.now
    var waiting: [Int64: ContinuousClock.Instant] = [:]
    for end in try await store.endedBatches(limit: Self.maximumBatches) {
      let since = seen[end.id] ?? now
      guard since.duration(to: now) >= Self.quietTime else {
        waiting[end.id] = since
        continue
      }
      try await report(end)
    }
    return waiting
  }

  private func report(_ end: EndedBatch) async throws(StoreError) {
    var payload: String?
    // A batch whose jobs were all removed has nothing to tell.
    if let detail = try await store.batch(end.batch, in: .everything),
      JobState.allCases.contains(where: { detail.batch.counts[$0] > 0 })
    {
      let span = try await store.span(of: end.batch)
      let summary = BatchSummary(detail: detail, startedAt: span.start, finishedAt: span.end)
      payload = (try? WireCoding.encoder().encode(summary)).map { String(decoding: $0, as: UTF8.self) }
    }
    guard try await store.report(end, payload: payload, at: Date()), payload != nil else { return }
    logger.info("a batch has ended", metadata: ["batch": "\(end.batch.name)"])
    await followUps.wake()
  }
}
