import FoundationEssentials
import Testing

@testable import transferd

@Suite struct FollowUpTimetableTests {
  private let time = Date(timeIntervalSince1970: 1_000_000)
  private let now = ContinuousClock.now

  private func delay(_ timetable: FollowUpTimetable, _ due: [FollowUpWork: Double]) -> Duration? {
    timetable.delay(due: due.mapValues(time.addingTimeInterval), time: time, now: now)
  }

  private func expectBegin(_ work: FollowUpWork, _ expected: Bool, _ timetable: inout FollowUpTimetable) {
    let isBegun = timetable.begin(work)
    #expect(isBegun == expected)
  }

  @Test("the delay lasts until the next work is due, at most an hour, and due work is run at once")
  func delays() {
    let timetable = FollowUpTimetable()
    #expect(delay(timetable, [:]) == nil)
    #expect(delay(timetable, [.fileActions: 30, .remoteCleanups: 5]) == .seconds(5))
    #expect(delay(timetable, [.remoteCleanups: 1e12]) == FollowUpTimetable.longestDelay)
    #expect(delay(timetable, [.fileActions: -1]) == FollowUpTimetable.shortestDelay)
  }

  @Test("running work needs no timer")
  func running() {
    var timetable = FollowUpTimetable()
    expectBegin(.remoteCleanups, true, &timetable)
    expectBegin(.remoteCleanups, false, &timetable)
    #expect(delay(timetable, [.remoteCleanups: -60]) == nil)
    #expect(delay(timetable, [.remoteCleanups: -60, .fileActions: 3]) == .seconds(3))
    timetable.end(.remoteCleanups, isFailed: false, now: now)
    #expect(delay(timetable, [.remoteCleanups: 7]) == .seconds(7))
  }

  @Test("work that failed with a store error is retried only after a delay")
  func refused() {
    var timetable = FollowUpTimetable()
    expectBegin(.fileActions, true, &timetable)
    timetable.end(.fileActions, isFailed: true, now: now)
    #expect(delay(timetable, [.fileActions: -60]) == FollowUpTimetable.retryDelay)
    #expect(delay(timetable, [.fileActions: -60, .remoteCleanups: 2]) == .seconds(2))
    // Hooks have no due time.
    var hooks = FollowUpTimetable()
    expectBegin(.hooks, true, &hooks)
    hooks.end(.hooks, isFailed: true, now: now)
    #expect(delay(hooks, [:]) == FollowUpTimetable.retryDelay)
    expectBegin(.hooks, true, &hooks)
    hooks.end(.hooks, isFailed: false, now: now)
    #expect(delay(hooks, [:]) == nil)
  }
}
