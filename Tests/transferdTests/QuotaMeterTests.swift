import Foundation
import Testing

@testable import transferd

@Suite struct QuotaMeterTests {
  private static let monday = LocalDay(name: "2026-11-23", end: Date(timeIntervalSince1970: 1000))
  private static let tuesday = LocalDay(name: "2026-11-24", end: Date(timeIntervalSince1970: 2000))

  @Test("bytes of the day add up to what was stored, and the wait ends with the day")
  func counts() {
    var meter = QuotaMeter(day: Self.monday, used: 50, total: 7)
    meter.count(total: 17, on: Self.monday)
    #expect(meter.used == 60)
    meter.count(total: 17, on: Self.monday)
    #expect(meter.used == 60 && meter.usedUpUntil(61) == nil && meter.usedUpUntil(nil) == nil)
    #expect(meter.usedUpUntil(60) == Self.monday.end)
  }

  @Test("a new day begins with 0, also if the clock is set back")
  func newDay() {
    var meter = QuotaMeter(day: Self.monday, used: 50, total: 0)
    meter.count(total: 10, on: Self.tuesday)
    #expect(meter.used == 10 && meter.day == Self.tuesday)
    meter.count(total: 15, on: Self.monday)
    #expect(meter.used == 5 && meter.usedUpUntil(5) == Self.monday.end)
  }

  @Test("bytes without a quota count for none that is set later, on this day or another")
  func skips() {
    var meter = QuotaMeter(day: Self.monday, used: 50, total: 0)
    meter.skip(total: 1000)
    meter.count(total: 1007, on: Self.monday)
    #expect(meter.used == 57)
    meter.skip(total: 5000)
    meter.count(total: 5003, on: Self.tuesday)
    #expect(meter.used == 3 && meter.day == Self.tuesday)
  }

  @Test("a day whose end moved, as by a change of the time zone, keeps its bytes")
  func movedEnd() {
    var meter = QuotaMeter(day: Self.monday, used: 50, total: 0)
    meter.count(total: 1, on: LocalDay(name: Self.monday.name, end: Date(timeIntervalSince1970: 1500)))
    #expect(meter.used == 51 && meter.usedUpUntil(1) == Date(timeIntervalSince1970: 1500))
  }

  @Test("the count is stored in steps, and at once if asked for")
  func stores() {
    var meter = QuotaMeter(day: Self.monday, used: 0, total: 0)
    meter.count(total: 10, on: Self.monday)
    var stored = [false, true, true].map { meter.mustStore(atOnce: $0) }
    #expect(stored == [false, true, false])
    meter.count(total: 10 + QuotaMeter.storedStep, on: Self.monday)
    stored = [meter.mustStore(atOnce: false)]
    #expect(stored == [true])
  }

  @Test("huge numbers do not trap, and a smaller total adds nothing")
  func extremes() {
    var meter = QuotaMeter(day: Self.monday, used: .max - 1, total: 0)
    meter.count(total: .max, on: Self.monday)
    #expect(meter.used == .max)
    meter.count(total: 5, on: Self.monday)
    #expect(meter.used == .max)
  }

  @Test("a local day has its name and ends at the next midnight")
  func localDay() {
    let day = LocalDay(containing: Date())
    #expect(day.name.count == 10 && day.end > Date() && day.end.timeIntervalSinceNow <= 25 * 3600)
    #expect(LocalDay(containing: day.end).name > day.name)
    #expect(LocalDay(containing: day.end.addingTimeInterval(-1)).name == day.name)
  }
}
