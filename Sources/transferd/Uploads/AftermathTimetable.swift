import FoundationEssentials

/// What remains to be done when jobs have ended.
enum AftermathWork: CaseIterable, Hashable {
  case fileActions, hooks, abandonments
}

/// Which follow-up work is under way, and when the rest is tried again. Pure: the clocks are passed in.
///
/// Work that is under way is never waited for by the clock: what it has not finished yet is due and stays due, and its own end
/// plans the next time. After an error of the store the same work is still due; it is tried again after `patience`.
struct AftermathTimetable {
  /// After an error of the store.
  static let patience = Duration.seconds(10)
  /// The least time between two looks.
  static let shortestDelay = Duration.milliseconds(10)
  /// The store is asked again after this long, in case the clock was set forward.
  static let longestDelay = Duration.seconds(3600)

  private var running: Set<AftermathWork> = []
  private var refused: [AftermathWork: ContinuousClock.Instant] = [:]

  /// - Returns: `false` where the work is under way.
  mutating func begin(_ work: AftermathWork) -> Bool { running.insert(work).inserted }

  /// - Parameter isRefused: the store did not let it be done.
  mutating func end(_ work: AftermathWork, isRefused: Bool, now: ContinuousClock.Instant) {
    running.remove(work)
    refused[work] = isRefused ? now + Self.patience : nil
  }

  /// How long nothing can be done; `nil` where nothing waits for a time.
  /// - Parameters:
  ///   - due: when the store's next work of each kind is due.
  ///   - time: of the clock by which `due` is kept.
  func delay(due: [AftermathWork: Date], time: Date, now: ContinuousClock.Instant) -> Duration? {
    let delays = AftermathWork.allCases.filter { !running.contains($0) }.compactMap { work -> Duration? in
      if let instant = refused[work] { return now.duration(to: instant) }
      guard let date = due[work] else { return nil }
      return .seconds(min(date.timeIntervalSince(time), Self.longestDelay.seconds))
    }
    return delays.min().map { max(Self.shortestDelay, $0) }
  }
}
