import FoundationEssentials
import Glibc
import Testing
import TransferAPI

@testable import transferctl

@Suite struct StartTimeTests {
  private static let now = Date(timeIntervalSince1970: 1_790_000_000)

  @Test(
    "RFC 3339 and durations",
    arguments: [
      ("2026-11-23T22:00:00Z", 1_795_471_200), ("2026-11-23T22:00:00+01:00", 1_795_467_600),
      ("2026-11-23 22:00:00+01:00", 1_795_467_600), ("2026-11-23t22:00:00z", 1_795_471_200),
      ("2026-11-23T22:00:00.250-05:30", 1_795_491_000.25), ("2028-02-29T00:00:00Z", 1_835_395_200),
      ("+2h", 1_790_007_200), ("+30", 1_790_000_030), ("+500ms", 1_790_000_000.5),
    ])
  func times(_ text: String, _ seconds: Double) throws {
    let date = try StartTime.date(text, now: Self.now)
    #expect(abs(date.timeIntervalSince1970 - seconds) < 0.001, "\(date)")
  }

  @Test(
    "anything else is an error with an example",
    arguments: [
      "", "now", "24:00", "12:60", "1:30", "12:3", "-1:30", "22:00:00", "+", "+0", "+2w", "-2h", "2026-11-23",
      "2026-02-29T00:00:00Z", "2026-13-01T00:00:00Z", "2026-11-31T00:00:00Z", "99999-11-23T10:00:00Z",
      "2026-11-23T25:00:00Z", "-0:30", "12:+5", "2026-11-23T22:00:00Zx", "9999-12-31T23:30:00-01:00",
      "0001-01-01T00:00:00+01:00", "2026-11-23T22:00:00", "tomorrow\u{1B}[2J",
    ])
  func errors(_ text: String) {
    let error = #expect(throws: WireError.self) { try StartTime.date(text, now: Self.now) }
    #expect(error?.description.contains("22:00 or +2h") == true && error?.description.contains("\u{1B}") == false)
  }

  @Test(
    "HH:MM is the next such time of the local clock", arguments: [("00:00", 0, 0), ("09:05", 9, 5), ("23:59", 23, 59)])
  func clock(_ text: String, _ hour: Int32, _ minute: Int32) throws {
    for offset in stride(from: 0.0, to: 86_400, by: 3_601) {
      let now = Self.now + offset
      let date = try StartTime.date(text, now: now)
      // A day on which the clocks change has 23 or 25 hours.
      #expect(date > now && date.timeIntervalSince(now) <= 25 * 3600)
      var seconds = time_t(date.timeIntervalSince1970)
      var local = tm()
      localtime_r(&seconds, &local)
      #expect(local.tm_hour == hour && local.tm_min == minute && local.tm_sec == 0)
    }
  }
}
