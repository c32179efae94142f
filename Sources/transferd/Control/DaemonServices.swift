import FoundationEssentials
import Glibc
import Logging
import Store
import TransferAPI
import WireValues

/// The parts of the daemon that the control API uses.
struct DaemonServices: Sendable {
  let store: Store
  let scheduler: Scheduler
  let intake: JobIntake
  let limits: LimitControl
  let folders: Folders
  let storage: StorageRules
  let hub: EventHub
  let startedAt: Date
  let stateDirectory: String
  let logger: Logger
  /// Ends the daemon as SIGTERM does.
  let requestStop: @Sendable () -> Void
  /// Reads the configuration again as SIGHUP does.
  let reload: @Sendable () async throws -> Void

  var spools: SpoolDirectory { SpoolDirectory(stateDirectory: stateDirectory) }

  /// Deletes spooled files that no job needs any more.
  /// - Returns: the tokens of jobs; `nil`: the store cannot be read now.
  @discardableResult
  func sweepSpools() async -> [String: Bool]? {
    guard let known = try? await store.spools() else { return nil }
    spools.sweep(known: known, now: Date())
    return known
  }

  /// - Parameter scope: the jobs that are counted.
  func stats(in scope: Scope) async throws -> Stats {
    let (maxActive, maxPerOrigin) = await (
      scheduler.limits.queue.admission.maxActive, scheduler.queue.maxPerOriginInForce
    )
    return Stats(
      version: Version.current, pid: getpid(), stateDirectory: stateDirectory, startedAt: startedAt,
      counts: try await store.counts(in: scope),
      bytesPerSecond: scheduler.tracker.all(in: scope).reduce(0) { $0.saturatingSum($1.bytesPerSecond) },
      maxActive: maxActive, maxPerOrigin: maxPerOrigin,
      lastEvent: try await store.lastEvent(in: scope))
  }
}
