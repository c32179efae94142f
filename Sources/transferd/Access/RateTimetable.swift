import FoundationEssentials
import Glibc
import TransferAPI
import WireValues

/// A limit of speed that depends on the day and the time. Pure: the local time is passed in.
struct RateTimetable: Equatable, Sendable {
  /// A day of the week and the time of day, as a clock on the wall shows it.
  struct LocalTime: Equatable, Sendable {
    /// 0 is Sunday.
    var weekday: Int
    var minute: Int

    /// By the machine's time zone.
    static func system(_ date: Date) -> LocalTime {
      let parts = tm(local: date)
      return LocalTime(weekday: Int(parts.tm_wday), minute: Int(parts.tm_hour) * 60 + Int(parts.tm_min))
    }
  }

  struct Entry: Equatable, Sendable {
    /// The days on which it begins.
    var days: Set<Int>
    /// Minutes since midnight; `to` is above `from`, or the range ends on the next day.
    var from: Int
    var to: Int
    /// Bytes a second; `nil`: no limit.
    var rate: Int64?

    func contains(_ time: LocalTime) -> Bool {
      if from < to { return days.contains(time.weekday) && (from..<to).contains(time.minute) }
      if time.minute >= from { return days.contains(time.weekday) }
      return time.minute < to && days.contains((time.weekday + 6) % 7)
    }
  }

  /// The first that matches counts.
  var entries: [Entry]

  /// Bytes a second; `nil`: no limit.
  func rate(at time: LocalTime) -> Int64? { entries.first { $0.contains(time) }?.rate }

  /// The next time at which the rate changes; `nil`: not within a day. Looks at each minute, so that no rule of a time zone
  /// has to be known.
  func nextChange(after date: Date, _ local: (Date) -> LocalTime) -> Date? {
    guard !entries.isEmpty else { return nil }
    let present = rate(at: local(date))
    var minute = (date.timeIntervalSince1970 / 60).rounded(.down) * 60
    for _ in 0..<24 * 60 + 1 {
      minute += 60
      let next = Date(timeIntervalSince1970: minute)
      if rate(at: local(next)) != present { return next }
    }
    return nil
  }
}

/// `limitDown` or `limitUp` of the configuration.
enum RateSetting: Equatable, Sendable {
  /// The configuration does not name it.
  case unset
  /// `nil`: off.
  case fixed(Int64?)
  case timetable(RateTimetable)
}

extension RateTimetable {
  private static let names = ["sun", "mon", "tue", "wed", "thu", "fri", "sat"]

  /// `mon-fri`, `sat`, `sat,sun` or `fri-mon`.
  static func days(_ text: String) -> Set<Int>? {
    var days: Set<Int> = []
    for part in text.lowercased().split(separator: ",", omittingEmptySubsequences: false) {
      let ends = part.trimmingBlanks().split(separator: "-", omittingEmptySubsequences: false).map(String.init)
      guard (1...2).contains(ends.count), let first = names.firstIndex(of: ends[0]),
        let last = names.firstIndex(of: ends[ends.count - 1])
      else { return nil }
      var day = first
      days.insert(day)
      while day != last {
        day = (day + 1) % 7
        days.insert(day)
      }
    }
    return days
  }
}
