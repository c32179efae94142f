import Store
import Threads
import TransferAPI
import TransferEngine

/// What systemd is told while the daemon runs: the watchdog's sign of life, and one line of status.
struct ServiceStatus: Sendable {
  let notifier: ServiceNotifier
  let session: Session
  let store: Store
  let hub: EventHub

  func run() async {
    guard notifier.isActive else { return }
    await withTaskGroup(of: Void.self) { group in
      if let interval = notifier.watchdogInterval {
        group.addTask { await watchdog(interval) }
      }
      group.addTask { await status() }
    }
  }

  /// The sign is given from beyond the transfer loop: a loop that hangs gives none.
  private func watchdog(_ interval: Duration) async {
    while !Task.isCancelled {
      await session.ping()
      notifier.send("WATCHDOG=1")
      try? await Task.pause(for: interval)
    }
  }

  private func status() async {
    for await _ in hub.watch() {
      guard !Task.isCancelled else { return }
      if let counts = try? await store.counts(in: .everything) {
        notifier.send("STATUS=\(counts.running) running, \(counts.queued + counts.retrying) waiting")
      }
      // Not more than one line a second, however fast jobs go by.
      try? await Task.pause(for: .seconds(1))
    }
  }
}
