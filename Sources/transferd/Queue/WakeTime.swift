import FoundationEssentials
import Store

/// The next time at which the scheduler must look for jobs. Pure.
///
/// It is the earliest future time at which a job can start without any other event. A job that is due and only waits for a
/// slot needs no wake time, because the end of an attempt wakes the scheduler.
enum WakeTime {
  /// - Parameter reopenTimes: when each closed origin opens.
  /// - Returns: `nil` if no job can start before another event.
  static func time(_ times: WaitingTimes, reopenTimes: [String: Date], now: Date) -> Date? {
    var candidates = times.nextRetry.map { [$0] } ?? []
    for (origin, first) in times.closedOrigins {
      if let time = reopenTimes[origin] { candidates.append(max(first, time)) }
    }
    return candidates.filter { $0 > now }.min()
  }

  /// The wake time for a job that was just postponed; it needs no query of the store.
  /// - Parameter reopenTime: when its origin opens; `nil` if it is open.
  static func time(ofRetryAt retry: Date, reopenTime: Date?) -> Date { max(retry, reopenTime ?? retry) }
}
