import FoundationEssentials
import Glibc

/// A day as the machine's time zone has it. A day may have 23 or 25 hours.
struct LocalDay: Equatable, Sendable {
  /// `2026-11-23`
  let name: String
  /// The next midnight.
  let end: Date

  init(containing date: Date) {
    var parts = tm(local: date)
    func padded(_ number: Int32) -> String { number < 10 ? "0\(number)" : "\(number)" }
    // checked: the year of a time that clocks can have
    name = "\(Int(parts.tm_year) + 1900)-\(padded(parts.tm_mon + 1))-\(padded(parts.tm_mday))"
    parts.tm_mday += 1  // checked: at most 32, which mktime(3) takes for the first of the next month
    (parts.tm_hour, parts.tm_min, parts.tm_sec, parts.tm_isdst) = (0, 0, 0, -1)
    end = Date(timeIntervalSince1970: Double(mktime(&parts)))
  }

  init(name: String, end: Date) {
    self.name = name
    self.end = end
  }
}
