import FoundationEssentials
import Logging
import Store
import Threads
import TransferAPI
import TransferEngine

/// Applies the limits of the whole daemon: those of the configuration, of its timetables, and what `transferctl limit` sets.
/// Sleeps until a timetable changes a limit; without a timetable it has no timer.
actor LimitControl {
  private let store: Store
  private let scheduler: Scheduler
  private let bandwidth: JobBandwidth
  private let logger: Logger
  /// Keeps the limits within what the process can have.
  private let bounded: @Sendable (Scheduler.Limits) -> Scheduler.Limits
  private var settings: LimitSettings
  private var overrides = LimitSettings.Overrides()
  private var alarm: Task<Void, Never>?

  /// The longest time in seconds between two reads of a timetable.
  private static let longestPause = 86_400.0

  init(
    store: Store, scheduler: Scheduler, bandwidth: JobBandwidth, settings: LimitSettings, logger: Logger,
    bounded: @escaping @Sendable (Scheduler.Limits) -> Scheduler.Limits
  ) {
    self.store = store
    self.scheduler = scheduler
    self.bandwidth = bandwidth
    self.settings = settings
    self.logger = logger
    self.bounded = bounded
  }

  /// Reads what was set before the last end of the daemon.
  func load() async throws {
    overrides = LimitSettings.Overrides(stored: try await store.daemonLimits())
    await apply()
  }

  /// The configuration was read again.
  func reload(_ settings: LimitSettings) async {
    self.settings = settings
    await apply()
  }

  /// Durable when this returns. Applies to running transfers.
  func change(_ change: DaemonLimitChange) async throws -> DaemonLimits {
    var changed = overrides
    changed.apply(change)
    try await store.setDaemonLimits(changed.stored)
    overrides = changed
    await apply()
    return current
  }

  /// What is in force now.
  var current: DaemonLimits { settings.inForce(overrides, at: Date()) }

  /// The wall clock was set, or the machine was suspended.
  func clockChanged() { applyRates() }

  private func apply() async {
    applyRates()
    let rules = settings.base.queue.admission.origins
    await scheduler.setLimits(bounded(settings.limits(overrides)))
    bandwidth.setRules(rules, running: await scheduler.queue.load.perOrigin.keys)
  }

  private func applyRates() {
    let now = Date()
    let limits = settings.inForce(overrides, at: now)
    bandwidth.setDaemonLimit(BandwidthLimit(down: limits.down, up: limits.up))
    alarm?.cancel()
    alarm = nil
    guard settings.hasTimetable(overrides) else { return }
    let next = [limits.downUntil, limits.upUntil].compactMap { $0 }.min()
    // Never 0: the alarm's clock and the wall clock may differ slightly.
    let pause = min(max(0.01, next?.timeIntervalSince(now) ?? Self.longestPause), Self.longestPause)
    alarm = Task {
      do { try await Task.pause(for: .seconds(pause)) } catch { return }
      guard !Task.isCancelled else { return }
      self.applyRates()
    }
  }
}
