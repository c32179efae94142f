import Foundation
import Testing
import TransferAPI

@testable import transferd

@Suite struct RateTimetableTests {
  /// The time that a clock in Berlin shows.
  static func berlin(_ date: Date) -> RateTimetable.LocalTime {
    var calendar = Calendar(identifier: .gregorian)
    calendar.timeZone = TimeZone(identifier: "Europe/Berlin")!
    let parts = calendar.dateComponents([.weekday, .hour, .minute], from: date)
    return .init(weekday: parts.weekday! - 1, minute: parts.hour! * 60 + parts.minute!)
  }

  private static func time(_ text: String) throws -> Date { try Date(text, strategy: .iso8601) }

  private func entry(_ days: String?, _ from: String, _ to: String, _ rate: Int64?) throws -> RateTimetable.Entry {
    RateTimetable.Entry(
      days: try days.map { try #require(RateTimetable.days($0)) } ?? Set(0..<7),
      from: try #require(ClockTime.minute(from)), to: try #require(ClockTime.minute(to)), rate: rate)
  }

  @Test(
    "the first entry that matches counts",
    arguments: [
      (0, "07:59", nil), (1, "07:59", nil), (1, "08:00", 2), (5, "17:59", 2), (5, "18:00", nil), (6, "12:00", 5),
      (1, "12:30", 9),
      // Friday's night ends on Saturday morning; Sunday has none.
      (5, "23:00", 7), (6, "00:00", 7), (6, "05:59", 7), (6, "06:00", nil), (0, "23:00", nil), (1, "05:00", nil),
    ] as [(Int, String, Int64?)])
  func rates(_ day: Int, _ time: String, _ rate: Int64?) throws {
    let table = RateTimetable(entries: [
      try entry("mon", "12:00", "13:00", 9), try entry("mon-fri", "08:00", "18:00", 2),
      try entry("sat,sun", "10:00", "14:00", 5), try entry("fri", "22:00", "06:00", 7),
    ])
    #expect(table.rate(at: .init(weekday: day, minute: try #require(ClockTime.minute(time)))) == rate)
  }

  @Test(
    "days and times are read, and others refused",
    arguments: [
      ("mon-fri", [1, 2, 3, 4, 5]), ("fri-mon", [0, 1, 5, 6]), ("sun", [0]), ("Sat, SUN", [0, 6]), ("mon-mon", [1]),
      ("", nil), ("mon-", nil), ("-", nil), ("monday", nil), ("mon-tue-wed", nil), ("mon,,tue", nil),
    ] as [(String, Set<Int>?)])
  func days(_ text: String, _ days: Set<Int>?) { #expect(RateTimetable.days(text) == days) }

  @Test(
    "the next change, also on the days on which the clock is set",
    arguments: [
      // An ordinary day: from 08:00 on, until 18:00.
      ("2026-06-10T04:00:00Z", "2026-06-10T06:00:00Z"), ("2026-06-10T06:00:00Z", "2026-06-10T16:00:00Z"),
      ("2026-06-10T06:00:30Z", "2026-06-10T16:00:00Z"),
      // In winter, Berlin is one hour behind.
      ("2026-12-10T04:00:00Z", "2026-12-10T07:00:00Z"),
      // 29 March: 02:00 becomes 03:00. 25 October: 03:00 becomes 02:00.
      ("2026-03-28T22:00:00Z", "2026-03-29T06:00:00Z"), ("2026-10-24T22:00:00Z", "2026-10-25T07:00:00Z"),
    ])
  func changes(_ start: String, _ change: String) throws {
    let table = RateTimetable(entries: [try entry(nil, "08:00", "18:00", 2)])
    #expect(try table.nextChange(after: Self.time(start), Self.berlin) == Self.time(change))
  }

  @Test("an hour that the clock leaves out has no limit, and one that it repeats has it twice")
  func missingHour() throws {
    let table = RateTimetable(entries: [try entry(nil, "02:00", "03:00", 2)])
    // In March the time goes from 01:59 to 03:00.
    for minute in 0..<24 * 60 {
      let date = try Self.time("2026-03-28T23:00:00Z").addingTimeInterval(Double(minute) * 60)
      if Self.berlin(date).minute >= 60, Self.berlin(date).minute < 240 {
        #expect(table.rate(at: Self.berlin(date)) == nil)
      }
    }
    let start = try Self.time("2026-10-24T23:30:00Z")
    let first = try #require(table.nextChange(after: start, Self.berlin))
    #expect(try first == Self.time("2026-10-25T00:00:00Z"))
    #expect(try table.nextChange(after: first, Self.berlin) == Self.time("2026-10-25T02:00:00Z"))
  }

  @Test("a table without a change within a day has no next change")
  func constant() throws {
    #expect(RateTimetable(entries: []).nextChange(after: .now, Self.berlin) == nil)
    let always = RateTimetable(entries: [try entry(nil, "00:00", "24:00", 2)])
    #expect(try always.nextChange(after: Self.time("2026-06-10T04:00:00Z"), Self.berlin) == nil)
    #expect(always.rate(at: .init(weekday: 3, minute: 1439)) == 2)
  }

  @Test("the system's local time is that of its calendar")
  func system() {
    let now = Date()
    let parts = Calendar.current.dateComponents([.weekday, .hour, .minute], from: now)
    #expect(RateTimetable.LocalTime.system(now).weekday == parts.weekday! - 1)
    #expect(RateTimetable.LocalTime.system(now).minute == parts.hour! * 60 + parts.minute!)
  }
}
