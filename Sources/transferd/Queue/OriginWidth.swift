import FoundationEssentials

/// The number of concurrent transfers with one origin under `maxPerOrigin: auto`. Pure: the clock is passed in.
///
/// It starts at 8. While only small files are transferred, it is doubled on trial, up to 32. The doubled width is kept
/// if more files then arrive per second. It is halved as soon as the origin refuses a request (429 or 503) or a
/// connection.
struct OriginWidth: Equatable, Sendable {
  static let initial = 8
  static let maximum = 32
  /// After a trial that was not faster, no other trial starts for this many seconds. After a refusal, the width does
  /// not grow for this time.
  static let holdTime: TimeInterval = 30
  /// Minimum length of a measurement in seconds.
  static let minimumMeasurement: TimeInterval = 0.05
  /// Seconds during which several refusals count as one: all transfers that were running are often refused together.
  static let refusalInterval: TimeInterval = 1
  /// A trial must be faster than the measurement before it by this factor.
  static let requiredGain = 1.05

  /// Counts the files that arrive at the current width.
  private struct Measurement: Equatable {
    /// The number of files still to arrive that were started with the previous width. They are not counted.
    var skipping: Int
    var startedAt: Date?
    var files = 0
  }

  /// The width before a trial, and its speed in files a second.
  private struct Trial: Equatable {
    let width: Int
    let speed: Double
  }

  private(set) var width = Self.initial
  private var measurement: Measurement?
  private var trial: Trial?
  /// When the last hold began.
  private var heldAt: Date?
  private var refusedAt: Date?

  /// The number of concurrent transfers that may run now.
  /// - Parameter hasLargeFiles: whether a transfer of a file that is not small is running.
  func limit(hasLargeFiles: Bool) -> Int { hasLargeFiles ? min(width, Self.initial) : width }

  /// A small file has arrived.
  mutating func recordSmallFile(now: Date) {
    guard !isHolding(now) else { return }
    var current = measurement ?? Measurement(skipping: width)
    defer { measurement = current }
    guard let startedAt = current.startedAt, startedAt <= now else {
      current.skipping -= 1  // checked: above 0 until the measurement starts
      if current.skipping <= 0 { current = Measurement(skipping: 0, startedAt: now) }
      return
    }
    current.files += 1  // checked: it ends soon after twice the width
    let time = now.timeIntervalSince(startedAt)
    guard current.files >= 2 * width, time >= Self.minimumMeasurement else { return }
    evaluate(speed: Double(current.files) / time, now: now)
    current = Measurement(skipping: width)
  }

  private mutating func evaluate(speed: Double, now: Date) {
    if let trial, speed < trial.speed * Self.requiredGain {
      width = trial.width
      self.trial = nil
      heldAt = now
    } else if width < Self.initial {
      width = min(width * 2, Self.initial)
    } else if width < Self.maximum {
      trial = Trial(width: width, speed: speed)
      width = min(width * 2, Self.maximum)
    } else {
      trial = nil
      heldAt = now
    }
  }

  /// A larger file has arrived, so the current measurement is discarded. After a refusal the width grows back to
  /// `initial`.
  mutating func recordLargeFile(now: Date) {
    measurement = nil
    trial = nil
    width = min(isHolding(now) ? width : width * 2, Self.initial)  // checked: at most twice `maximum`
  }

  /// The origin has refused a request or a connection.
  mutating func recordRefusal(now: Date) {
    if let refusedAt, refusedAt <= now, now.timeIntervalSince(refusedAt) < Self.refusalInterval { return }
    refusedAt = now
    width = max(1, width / 2)
    measurement = nil
    trial = nil
    heldAt = now
  }

  /// A clock that was set back ends the hold.
  private func isHolding(_ now: Date) -> Bool {
    heldAt.map { $0 <= now && now.timeIntervalSince($0) < Self.holdTime } ?? false
  }
}
