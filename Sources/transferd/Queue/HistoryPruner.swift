import FoundationEssentials
import Logging
import Store
import Synchronization
import Threads

/// Deletes records of files that are gone, and the history of ended jobs that is older than the configured age. It runs at the start of the daemon, and then at
/// the first event after a day. It needs no timer: without events there is nothing new to delete.
final class HistoryPruner: Sendable {
  private let store: Store
  private let hub: EventHub
  private let logger: Logger
  private let days: Mutex<Int>

  /// Time between two runs.
  static let interval = Duration.seconds(86400)
  /// Pause between two deletions, so that other work can use the disk.
  static let pause = Duration.milliseconds(20)

  init(store: Store, hub: EventHub, days: Int, logger: Logger) {
    self.store = store
    self.hub = hub
    self.days = Mutex(days)
    self.logger = logger
  }

  /// Changes the age limit from the next run on.
  /// - Parameter days: 0 keeps the history forever.
  func setRetention(days: Int) { self.days.withLock { $0 = days } }

  /// Prunes the history until the task is cancelled.
  /// - Parameters:
  ///   - interval: the least time between two runs.
  ///   - clock: the current time, including the time the machine is suspended. It is read once per event.
  ///   - didPrune: called after each run.
  func run(
    every interval: Duration = HistoryPruner.interval,
    clock: @Sendable () -> ContinuousClock.Instant = { .now }, didPrune: @Sendable () -> Void = {}
  ) async {
    var next: ContinuousClock.Instant?
    for await _ in hub.watch() {
      let now = clock()
      if let next, now < next { continue }
      guard !Task.isCancelled else { return }
      await prune(now: Date())
      next = now + interval
      didPrune()
    }
  }

  /// Deletes all history that is too old, step by step.
  func prune(now: Date) async {
    await FileRecordPruner(store: store, logger: logger).prune(now: now)
    let days = days.withLock { $0 }
    guard days > 0 else { return }
    let limit = now.addingTimeInterval(-Double(days) * 86400)
    var progress = PruneProgress()
    do {
      while !progress.isDone, !Task.isCancelled {
        progress = try await store.prune(progress, olderThan: limit)
        try? await Task.pause(for: Self.pause)
      }
    } catch StoreError.closed {
      return
    } catch {
      logger.warning("cannot delete old history", metadata: ["error": "\(error)"])
    }
    if progress.deleted > 0 { logger.info("old history deleted", metadata: ["rows": "\(progress.deleted)"]) }
  }
}
