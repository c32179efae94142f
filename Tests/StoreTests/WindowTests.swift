import Foundation
import Testing
import TransferAPI

@testable import Store

/// Windows as the store knows them: closed until a time, or open.
@Suite struct WindowTests {
  private static let night = (try? DailyWindow(parsing: "22:00-06:00"))!
  private static let day = (try? DailyWindow(parsing: "06:00-22:00"))!

  private func spec(_ n: Int, _ window: DailyWindow?) -> JobSpec {
    var spec = Fixture.spec(n)
    spec.options.schedule.window = window
    return spec
  }

  private func candidates(_ fixture: Fixture, at seconds: Double = 0) async throws -> [JobID] {
    try await fixture.store.candidates(now: Fixture.at(seconds), excludingOrigins: [], limit: 10).map(\.id)
  }

  @Test("a job whose window is closed is no candidate, whether it was added before or after that")
  func closed() async throws {
    let fixture = try Fixture()
    let closed = [Self.night: Fixture.at(60)]
    let before = try await fixture.add(spec(1, Self.night))
    let other = try await fixture.add(spec(2, Self.day))
    let plain = try await fixture.add(spec(3, nil))
    let after = try await fixture.store.submit(
      [spec(4, Self.night)], in: .everything, at: Fixture.epoch, closedWindows: closed)[0].get().id
    #expect(try await candidates(fixture) == [before, other, plain])
    // Found before the window closed, and not claimed.
    #expect(try await fixture.store.claim([before], at: Fixture.epoch, closedWindows: closed).isEmpty)
    #expect(try await fixture.record(before).closedUntil == Fixture.at(60))
    #expect(try await candidates(fixture) == [other, plain])
    #expect(Set(try await fixture.store.windows()) == [Self.night, Self.day])
    #expect(try await fixture.store.claim([after], at: Fixture.at(100)).isEmpty)
    let opened = try await fixture.store.applyWindows(closed: [:], open: [Self.night, Self.day])
    #expect(opened.opened == 2 && opened.running.isEmpty)
    #expect(try await candidates(fixture) == [before, other, plain, after])
  }

  @Test("closing finds waiting jobs in every state, names those that run, and follows a clock that was set")
  func states() async throws {
    let fixture = try Fixture()
    var ids: [JobID] = []
    for n in 1...5 { ids.append(try await fixture.add(spec(n, Self.night))) }
    try await fixture.settle(fixture.claim(ids[0]), .postpone) { $0.retryDelay = .seconds(10) }
    _ = await fixture.store.transition([ids[1]], .pause, at: Fixture.epoch)
    _ = try await fixture.claim(ids[2])
    try await fixture.settle(fixture.claim(ids[3]), .complete)
    for opening in [600.0, 300, 900] {
      let changes = try await fixture.store.applyWindows(closed: [Self.night: Fixture.at(opening)], open: [])
      #expect(changes.opened == 0 && changes.running == [ids[2]])
      for id in [ids[0], ids[1], ids[4]] {
        #expect(try await fixture.record(id).closedUntil == Fixture.at(opening))
      }
    }
    #expect(try await fixture.store.records([ids[2], ids[3]]).allSatisfy { $0.closedUntil == nil })
    // Its retry is due, and it is not found; nor does its time wake the daemon.
    #expect(try await candidates(fixture, at: 100).isEmpty)
    #expect(try await fixture.store.waitingTimes(now: Fixture.at(3)) == WaitingTimes())
    _ = try await fixture.store.applyWindows(closed: [:], open: [Self.night])
    #expect(try await candidates(fixture, at: 100) == [ids[0], ids[4]])
    #expect(try await fixture.store.waitingTimes(now: Fixture.at(3)).nextRetry == Fixture.at(12))
  }

  @Test("more jobs than one transaction takes are closed and opened in one call")
  func many() async throws {
    let fixture = try Fixture()
    let results = await fixture.store.submit((1...4500).map { spec($0, Self.night) }, at: Fixture.epoch)
    #expect(results.allSatisfy { $0.failure == nil })
    _ = try await fixture.store.applyWindows(closed: [Self.night: Fixture.at(60)], open: [])
    #expect(try await candidates(fixture).isEmpty)
    let opened = try await fixture.store.applyWindows(closed: [:], open: [Self.night])
    #expect(opened.opened == 4500)
  }

  @Test("a check of windows costs the same in a long queue")
  func cost() async throws {
    var costs: [Int] = []
    for count in [100, 5000] {
      let fixture = try Fixture()
      let specs = (1...count).map { spec($0, $0.isMultiple(of: 2) ? Self.night : Self.day) }
      _ = await fixture.store.submit(
        specs, in: .everything, at: Fixture.epoch,
        closedWindows: [Self.night: Fixture.at(60), Self.day: Fixture.at(90)])
      costs.append(
        try await fixture.store.read { db in
          try StepCounter.steps(of: db) {
            let names = try db.rows(Store.windowNames) { try $0.text("name") }
            let running = try db.rows(Store.runningInWindow) {
              $0("window", Self.night.description)
            } read: {
              try $0.jobID("id")
            }
            #expect(names.count == 2 && running.isEmpty)
          }
        })
    }
    #expect(costs[1] < costs[0] * 2, "\(costs)")
  }
}
