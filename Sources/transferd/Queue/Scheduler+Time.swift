import CLinux
import FoundationEssentials
import Store
import Threads

/// The scheduler's timers.
extension Scheduler {
  /// Maximum alarm time in seconds. When the alarm fires, a later wake time is set again.
  private static let longestAlarm = 86_400.0
  /// Minimum alarm time in seconds, because the alarm's clock and the wall clock may differ slightly.
  private static let shortestAlarm = 0.001

  /// Wakes the scheduler at a time, or earlier if an earlier alarm is set.
  func setAlarm(_ time: Date) {
    guard !isStopping else { return }
    let delay = min(max(Self.shortestAlarm, time.timeIntervalSinceNow), Self.longestAlarm)
    // This clock is monotonic and counts suspended time, so a change of the wall clock does not move an alarm.
    let instant = ContinuousClock.now + .seconds(delay)
    if let set = alarmTime, set <= instant { return }
    alarm?.cancel()
    alarmTime = instant
    alarm = Task {
      do {
        try await Task.pause(for: .seconds(delay))
      } catch { return }
      // Another alarm was set while this task waited for the actor.
      guard !Task.isCancelled else { return }
      self.alarmTime = nil
      self.wake()
    }
  }

  /// Measures the transfer rates while jobs run. An idle daemon does not wake up for it.
  func startSampling() {
    guard sampler == nil, !isStopping else { return }
    let tracker = tracker
    sampler = Task {
      while !Task.isCancelled, !tracker.isEmpty {
        tracker.sample()
        self.countQuota()
        try? await Task.pause(for: .milliseconds(500))
      }
      self.sampler = nil
      if !tracker.isEmpty { return self.startSampling() }
      try? await Task.pause(for: .seconds(2))
      self.releaseMemory()
    }
  }

  /// Returns memory to the system that an idle daemon does not need.
  func releaseMemory() {
    guard tracker.isEmpty, sampler == nil, !isStopping else { return }
    store.releaseMemory()
    linux_return_memory()
  }
}
