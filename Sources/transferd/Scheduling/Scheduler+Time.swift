import CLinux
import FoundationEssentials
import Store
import Threads

/// What the scheduler does by the clock alone.
extension Scheduler {
  /// No alarm is set for longer; a later one is found when it goes off.
  private static let longestAlarm = 86_400.0
  /// Nor for less: the clocks of the alarm and of the jobs may differ a little.
  private static let shortestAlarm = 0.001

  /// Sets the alarm for the moment at which the next job can begin.
  /// - Parameters:
  ///   - excluded: origins of which nothing can begin, as the candidates were chosen.
  ///   - openings: the closed origins among them.
  func planAlarm(now: Date, excludingOrigins excluded: Set<String>, openings: [String: Date]) async throws {
    let times = try await store.waitingTimes(
      now: now, excludingOrigins: excluded, closedOrigins: Set(openings.keys))
    if let next = NextLook.time(times, openings: openings, now: now) { setAlarm(next) }
  }

  /// Looks for due jobs at that time, or earlier if an earlier alarm is set already.
  func setAlarm(_ time: Date) {
    guard !isStopping else { return }
    let delay = min(max(Self.shortestAlarm, time.timeIntervalSinceNow), Self.longestAlarm)
    // The monotonic clock, suspended time included: a wall clock that jumps neither hurries nor delays an alarm that is set.
    let instant = ContinuousClock.now + .seconds(delay)
    if let set = alarmTime, set <= instant { return }
    alarm?.cancel()
    alarmTime = instant
    alarm = Task {
      do {
        try await Task.pause(for: .seconds(delay))
      } catch { return }
      // Another one was set while this one waited for its turn.
      guard !Task.isCancelled else { return }
      self.alarmTime = nil
      await self.wake()
    }
  }

  /// Measures while jobs run; an idle daemon does not wake up.
  func startSampling() {
    guard sampler == nil, !isStopping else { return }
    let board = board
    sampler = Task {
      while !Task.isCancelled, !board.isEmpty {
        board.sample()
        try? await Task.pause(for: .milliseconds(500))
      }
      self.sampler = nil
      if !board.isEmpty { return self.startSampling() }
      try? await Task.pause(for: .seconds(2))
      self.rest()
    }
  }

  /// Gives back the memory that the start, or ten thousand jobs, needed and an idle daemon does not.
  func rest() {
    guard board.isEmpty, sampler == nil, !isStopping else { return }
    store.releaseMemory()
    linux_return_memory()
  }
}
