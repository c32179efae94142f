import FoundationEssentials
import Store

/// When the scheduler looks for jobs again because of the clock. Pure.
///
/// It is the earliest moment at which the clock alone lets a job begin, and always later than now. A job that is due and waits
/// for a slot needs no time of its own: the end of an attempt wakes the scheduler.
enum NextLook {
  /// - Parameter openings: when each closed origin opens.
  /// - Returns: `nil` where no job can begin before something else happens.
  static func time(_ times: WaitingTimes, openings: [String: Date], now: Date) -> Date? {
    var candidates = times.nextRetry.map { [$0] } ?? []
    for (origin, first) in times.closedOrigins {
      if let opening = openings[origin] { candidates.append(max(first, opening)) }
    }
    return candidates.filter { $0 > now }.min()
  }

  /// For a job that has just been put off, without another look at the store.
  /// - Parameter opening: when its origin opens; `nil` where it is open.
  static func time(ofRetryAt retry: Date, opening: Date?) -> Date { max(retry, opening ?? retry) }
}
