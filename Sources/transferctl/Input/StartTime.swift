import FoundationEssentials
import Glibc
import TransferAPI
import WireValues

/// A time as people write it: RFC 3339 (`2026-11-23T22:00:00+01:00`), `HH:MM` (the next such time in the local time zone) or a
/// duration from now (`+2h`).
enum StartTime {
  /// - Throws: `WireError` for anything else.
  static func date(_ text: String, now: Date = Date()) throws(WireError) -> Date {
    if text.hasPrefix("+") {
      guard let span = TimeSpan(String(text.dropFirst())) else { throw invalid(text) }
      return now.addingTimeInterval(span.seconds)
    }
    if let minute = ClockTime.minute(text), minute < 24 * 60 {
      guard let date = next(minute, after: now) else { throw invalid(text) }
      return date
    }
    guard let date = WireCoding.date(rfc3339: text) else { throw invalid(text) }
    return date
  }

  private static func invalid(_ text: String) -> WireError {
    WireError("\"\(text.printable)\" is no time; write 2026-11-23T22:00:00Z, 22:00 or +2h")
  }

  /// The time zone is that of the process (`TZ`, `/etc/localtime`). A time that does not exist on a day, because the clocks go
  /// forward, is as much later as the clocks (mktime(3)).
  private static func next(_ minute: Int, after now: Date) -> Date? {
    var today = tm()
    guard var seconds = CheckedNumber(rounding: now.timeIntervalSince1970).value.map({ time_t($0) }),
      localtime_r(&seconds, &today) != nil
    else { return nil }
    for day in [today.tm_mday, today.tm_mday + 1] {  // checked: a day of a month
      var local = tm()
      (local.tm_year, local.tm_mon, local.tm_mday) = (today.tm_year, today.tm_mon, day)
      (local.tm_hour, local.tm_min, local.tm_isdst) = (Int32(minute / 60), Int32(minute % 60), -1)
      let time = mktime(&local)
      if time != -1, Double(time) > now.timeIntervalSince1970 { return Date(timeIntervalSince1970: Double(time)) }
    }
    return nil
  }
}
