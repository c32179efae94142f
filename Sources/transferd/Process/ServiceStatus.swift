import Store
import Threads
import TransferAPI
import TransferEngine

/// Reports to systemd while the daemon runs: watchdog keep-alives and a status line.
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

  /// Each keep-alive makes a round trip through the transfer loop, so a loop that hangs causes a watchdog timeout.
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
      // At most one status line per second.
      try? await Task.pause(for: .seconds(1))
    }
  }
}
