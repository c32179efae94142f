import FoundationEssentials
import Testing

@testable import transferd

@Suite struct AftermathTimetableTests {
  private let time = Date(timeIntervalSince1970: 1_000_000)
  private let now = ContinuousClock.now

  private func delay(_ timetable: AftermathTimetable, _ due: [AftermathWork: Double]) -> Duration? {
    timetable.delay(due: due.mapValues(time.addingTimeInterval), time: time, now: now)
  }

  private func expectBegin(_ work: AftermathWork, _ expected: Bool, _ timetable: inout AftermathTimetable) {
    let isBegun = timetable.begin(work)
    #expect(isBegun == expected)
  }

  @Test("what was put off is waited for, at most an hour, and what is due is tried at once")
  func delays() {
    let timetable = AftermathTimetable()
    #expect(delay(timetable, [:]) == nil)
    #expect(delay(timetable, [.fileActions: 30, .abandonments: 5]) == .seconds(5))
    #expect(delay(timetable, [.abandonments: 1e12]) == AftermathTimetable.longestDelay)
    #expect(delay(timetable, [.fileActions: -1]) == AftermathTimetable.shortestDelay)
  }

  @Test("what is due and under way is not looked for by the clock")
  func running() {
    var timetable = AftermathTimetable()
    expectBegin(.abandonments, true, &timetable)
    expectBegin(.abandonments, false, &timetable)
    #expect(delay(timetable, [.abandonments: -60]) == nil)
    #expect(delay(timetable, [.abandonments: -60, .fileActions: 3]) == .seconds(3))
    timetable.end(.abandonments, isRefused: false, now: now)
    #expect(delay(timetable, [.abandonments: 7]) == .seconds(7))
  }

  @Test("what the store refused is due, and is tried again after a while all the same")
  func refused() {
    var timetable = AftermathTimetable()
    expectBegin(.fileActions, true, &timetable)
    timetable.end(.fileActions, isRefused: true, now: now)
    #expect(delay(timetable, [.fileActions: -60]) == AftermathTimetable.patience)
    #expect(delay(timetable, [.fileActions: -60, .abandonments: 2]) == .seconds(2))
    // Hooks have no time of their own.
    var hooks = AftermathTimetable()
    expectBegin(.hooks, true, &hooks)
    hooks.end(.hooks, isRefused: true, now: now)
    #expect(delay(hooks, [:]) == AftermathTimetable.patience)
    expectBegin(.hooks, true, &hooks)
    hooks.end(.hooks, isRefused: false, now: now)
    #expect(delay(hooks, [:]) == nil)
  }
}
