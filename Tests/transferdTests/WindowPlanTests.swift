import Foundation
import Testing
import TransferAPI

@testable import transferd

@Suite struct WindowPlanTests {
  private static func time(_ text: String) throws -> Date { try Date(text, strategy: .iso8601) }

  private func plan(_ windows: [String], _ now: String) throws -> WindowPlan {
    WindowPlan(
      try windows.map { text in try DailyWindow(parsing: text) }, at: try Self.time(now), RateTimetableTests.berlin)
  }

  @Test(
    "a window opens and closes when a clock on the wall shows its times, also on the days on which the clock is set",
    arguments: [
      // Summer: two hours ahead of UTC.
      ("22:00-06:00", "2026-06-10T12:00:00Z", false, "2026-06-10T20:00:00Z"),
      ("22:00-06:00", "2026-06-10T20:00:00Z", true, "2026-06-11T04:00:00Z"),
      ("22:00-06:00", "2026-06-11T03:59:59Z", true, "2026-06-11T04:00:00Z"),
      ("22:00-06:00", "2026-06-11T04:00:00Z", false, "2026-06-11T20:00:00Z"),
      ("08:00-17:30", "2026-06-10T05:59:30Z", false, "2026-06-10T06:00:00Z"),
      ("08:00-17:30", "2026-06-10T06:00:30Z", true, "2026-06-10T15:30:00Z"),
      // 29 March: 02:00 becomes 03:00. The night is an hour shorter, and a window in the missing hour opens the day after.
      ("22:00-06:00", "2026-03-28T21:30:00Z", true, "2026-03-29T04:00:00Z"),
      ("02:15-02:45", "2026-03-28T12:00:00Z", false, "2026-03-30T00:15:00Z"),
      ("01:30-02:30", "2026-03-29T00:40:00Z", true, "2026-03-29T01:00:00Z"),
      // 25 October: 03:00 becomes 02:00. The hour comes twice, and the window is open twice.
      ("22:00-06:00", "2026-10-24T21:00:00Z", true, "2026-10-25T05:00:00Z"),
      ("02:15-02:45", "2026-10-25T00:20:00Z", true, "2026-10-25T00:45:00Z"),
      ("02:15-02:45", "2026-10-25T00:50:00Z", false, "2026-10-25T01:15:00Z"),
      ("00:00-24:00", "2026-06-10T12:00:00Z", true, nil),
    ] as [(String, String, Bool, String?)])
  func changes(_ window: String, _ now: String, _ isOpen: Bool, _ next: String?) throws {
    let plan = try plan([window], now)
    #expect(plan.open.isEmpty == !isOpen && plan.closed.isEmpty == isOpen)
    #expect(plan.next == (try next.map(Self.time)))
    if !isOpen { #expect(plan.closed.values.first == plan.next) }
  }

  @Test("the next look is when the first of several windows changes; without windows there is none")
  func several() throws {
    let plan = try plan(["22:00-06:00", "08:00-13:00", "12:30-15:00"], "2026-06-10T10:00:00Z")
    #expect(plan.open == [try DailyWindow(parsing: "08:00-13:00")] && plan.closed.count == 2)
    #expect(plan.next == (try Self.time("2026-06-10T10:30:00Z")))
    #expect(
      try self.plan([], "2026-06-10T10:00:00Z") == WindowPlan([DailyWindow](), at: Date(), RateTimetableTests.berlin))
  }

  @Test("a clock that was set gives the windows of the new time, whatever it was before")
  func clockSet() throws {
    let open = try plan(["22:00-06:00"], "2026-06-10T21:00:00Z")
    let back = try plan(["22:00-06:00"], "2026-06-10T10:00:00Z")
    let ahead = try plan(["22:00-06:00"], "2026-06-20T21:00:00Z")
    let (closing, opening) = (try Self.time("2026-06-21T04:00:00Z"), try Self.time("2026-06-10T20:00:00Z"))
    #expect(open.closed.isEmpty && ahead.closed.isEmpty && ahead.next == closing)
    #expect(back.closed.values.first == opening)
  }
}
