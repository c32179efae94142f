import FoundationEssentials

/// Which follow-up work is running, and when other work is due. Pure: the clocks are passed in.
///
/// Running work needs no timer: its unfinished actions stay due, and its end sets the next time. After an error of the store
/// the same work is still due, so it is retried only after `retryDelay`.
struct FollowUpTimetable {
  /// After an error of the store.
  static let retryDelay = Duration.seconds(10)
  /// Minimum time until the next run.
  static let shortestDelay = Duration.milliseconds(10)
  /// The store is queried again after this time, in case the clock was set forward.
  static let longestDelay = Duration.seconds(3600)

  private var running: Set<FollowUpWork> = []
  private var retries: [FollowUpWork: ContinuousClock.Instant] = [:]

  /// Marks work as running.
  /// - Returns: `false` if it is running already.
  mutating func begin(_ work: FollowUpWork) -> Bool { running.insert(work).inserted }

  /// Marks work as ended.
  /// - Parameter isFailed: whether the work ended with an error of the store.
  mutating func end(_ work: FollowUpWork, isFailed: Bool, now: ContinuousClock.Instant) {
    running.remove(work)
    retries[work] = isFailed ? now + Self.retryDelay : nil  // checked: an instant of this process plus 10 s
  }

  /// The time until the next work is due; `nil` if none is scheduled.
  /// - Parameters:
  ///   - due: when the next stored work of each kind is due.
  ///   - time: the current time of the clock that `due` refers to.
  func delay(due: [FollowUpWork: Date], time: Date, now: ContinuousClock.Instant) -> Duration? {
    let delays = FollowUpWork.allCases.filter { !running.contains($0) }.compactMap { work -> Duration? in
      if let instant = retries[work] { return now.duration(to: instant) }
      guard let date = due[work] else { return nil }
      return .seconds(min(date.timeIntervalSince(time), Self.longestDelay.seconds))
    }
    return delays.min().map { max(Self.shortestDelay, $0) }
  }
}
