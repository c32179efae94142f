import FoundationEssentials
import Logging
import Store
import Synchronization
import Threads

/// Deletes the history of ended jobs once it is older than the configuration says: when the daemon starts, and later when
/// something happens and the last time was a day ago. Nothing wakes up for it: without news there is nothing new to delete.
final class HistoryKeeper: Sendable {
  private let store: Store
  private let hub: EventHub
  private let logger: Logger
  private let days: Mutex<Int>

  static let interval = Duration.seconds(86400)
  /// Between two steps the disk is for others.
  static let pause = Duration.milliseconds(20)

  init(store: Store, hub: EventHub, days: Int, logger: Logger) {
    self.store = store
    self.hub = hub
    self.days = Mutex(days)
    self.logger = logger
  }

  /// Takes effect at the next look.
  /// - Parameter days: 0 keeps everything.
  func keep(days: Int) { self.days.withLock { $0 = days } }

  /// Until cancelled.
  /// - Parameters:
  ///   - interval: between two looks, by a clock that goes on while the machine sleeps.
  ///   - didLook: called after each.
  func run(every interval: Duration = HistoryKeeper.interval, didLook: @Sendable () -> Void = {}) async {
    var next = ContinuousClock.now
    for await _ in hub.watch() where ContinuousClock.now >= next {
      guard !Task.isCancelled else { return }
      await prune(now: Date())
      next = .now + interval
      didLook()
    }
  }

  /// One look at all of it.
  func prune(now: Date) async {
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
