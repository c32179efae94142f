import FoundationEssentials
import Glibc
import Logging
import Store
import TransferAPI
import WireValues

/// What the control API may reach of the daemon.
struct DaemonFace: Sendable {
  let store: Store
  let scheduler: Scheduler
  let hub: EventHub
  let startedAt: Date
  let stateDirectory: String
  let logger: Logger
  /// Ends the daemon as SIGTERM does.
  let requestStop: @Sendable () -> Void
  /// Reads the configuration again as SIGHUP does.
  let reload: @Sendable () async throws -> Void

  var spools: SpoolDirectory { SpoolDirectory(stateDirectory: stateDirectory) }

  /// Takes away what clients and ended jobs left there.
  func sweepSpools() async {
    guard let known = try? await store.spools() else { return }
    spools.sweep(known: known, now: Date())
  }

  /// - Parameter scope: whose jobs are counted.
  func stats(in scope: Scope) async throws -> Stats {
    let limits = await scheduler.limits
    return Stats(
      version: Version.current, pid: getpid(), stateDirectory: stateDirectory, startedAt: startedAt,
      counts: try await store.counts(in: scope),
      bytesPerSecond: scheduler.board.all(in: scope).reduce(0) { $0.saturatingSum($1.bytesPerSecond) },
      maxActive: limits.admission.maxActive, maxPerOrigin: limits.admission.maxPerOrigin,
      lastEvent: try await store.lastEvent(in: scope))
  }
}
