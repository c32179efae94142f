import WireValues

/// The hours of a day in which a job may run, like `22:00-06:00`. A window may cross midnight.
///
/// In JSON a text. The times are those that a clock on the wall shows where the daemon runs.
public struct DailyWindow: Hashable, Sendable {
  /// The first minute, counted from midnight.
  public let from: Int
  /// The first minute after the window; 1440 is the end of the day.
  public let to: Int

  /// - Throws: `WireError` for anything but `HH:MM-HH:MM`, and for a window without a minute.
  public init(parsing text: String) throws(WireError) {
    let ends = text.split(separator: "-", omittingEmptySubsequences: false)
    guard ends.count == 2, let from = ClockTime.minute(ends[0]), let to = ClockTime.minute(ends[1]), from < 24 * 60
    else {
      throw WireError(text: "\(field: "window") \"\(text.prefix(40))\" is not HH:MM-HH:MM, like 22:00-06:00")
    }
    guard from != to else {
      throw WireError(text: "\(field: "window") \(text) is empty; 00:00-24:00 is the whole day")
    }
    (self.from, self.to) = (from, to)
  }

  /// Whether the job may run in this minute of the day.
  public func contains(minute: Int) -> Bool {
    from < to ? (from..<to).contains(minute) : minute >= from || minute < to
  }
}

extension DailyWindow: CustomStringConvertible {
  public var description: String { "\(Self.clock(from))-\(Self.clock(to))" }

  private static func clock(_ minute: Int) -> String {
    let (hours, minutes) = minute.quotientAndRemainder(dividingBy: 60)
    return "\(hours < 10 ? "0" : "")\(hours):\(minutes < 10 ? "0" : "")\(minutes)"
  }
}

extension DailyWindow: Codable, TextCodable {}
