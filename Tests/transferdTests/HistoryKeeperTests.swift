import Foundation
import Logging
import Store
import TestSupport
import Testing
import TransferAPI

@testable import transferd

@Suite struct HistoryKeeperTests {
  /// A store with one cancelled job of long ago.
  private final class Room: Sendable {
    let directory: TemporaryDirectory
    let store: Store
    let hub = EventHub()
    static let longAgo = Date(timeIntervalSinceNow: -100 * 86400)

    init() async throws {
      directory = try TemporaryDirectory()
      let hub = hub
      store = try Store(directory: directory.path("state"), now: Self.longAgo) { hub.publish($0) }
      try await cancelled(1, at: Self.longAgo)
    }

    func cancelled(_ n: Int, at time: Date) async throws {
      let spec = JobSpec(owner: 0, url: "http://h/\(n)", origin: "http://h:80", destination: "/d/\(n)")
      let id = try await store.submit([spec], in: .everything, at: time)[0].get().id
      _ = await store.transition([id], .cancel, in: .everything, at: time)
    }

    func keeper(days: Int) -> HistoryKeeper {
      var logger = Logger(label: "test")
      logger.logLevel = .critical
      return HistoryKeeper(store: store, hub: hub, days: days, logger: logger)
    }

    var jobsWithHistory: Set<Int64> {
      get async throws { Set(try await store.events(since: 0, limit: 100, in: .everything).map(\.job.rawValue)) }
    }
  }

  @Test("history older than the days goes", arguments: [(99, true), (101, false), (0, false)])
  func days(_ days: Int, _ goes: Bool) async throws {
    let room = try await Room()
    await room.keeper(days: days).prune(now: Date())
    #expect(try await room.jobsWithHistory == (goes ? [] : [1]))
  }

  @Test("it looks at the start, and not again before the interval is over")
  func start() async throws {
    let room = try await Room()
    let keeper = room.keeper(days: 90)
    let looks = Watched(0)
    let task = Task { await keeper.run(every: .seconds(600)) { looks.mutate { $0 += 1 } } }
    defer { task.cancel() }
    try await looks.wait(for: "the first look") { $0 == 1 ? () : nil }
    #expect(try await room.jobsWithHistory == [])
    try await room.cancelled(2, at: Room.longAgo)
    try await Task.sleep(for: .milliseconds(300))
    #expect(try await room.jobsWithHistory == [2] && looks.value == 1)
  }

  @Test("once the interval is over it looks at news, not without; a reload counts")
  func interval() async throws {
    let room = try await Room()
    let keeper = room.keeper(days: 90)
    let looks = Watched(0)
    let task = Task { await keeper.run(every: .milliseconds(100)) { looks.mutate { $0 += 1 } } }
    defer { task.cancel() }
    try await looks.wait(for: "the first look") { $0 == 1 ? () : nil }
    // Nothing happens: an idle daemon does not wake up.
    try await Task.sleep(for: .milliseconds(500))
    #expect(looks.value == 1)
    keeper.keep(days: 0)
    try await room.cancelled(2, at: Room.longAgo)
    try await looks.wait(for: "the second look") { $0 >= 2 ? () : nil }
    #expect(try await room.jobsWithHistory == [2])
    keeper.keep(days: 1)
    // News that come before the interval is over are none: new ones now and then.
    for number in 3..<300 where try await room.jobsWithHistory.contains(2) {
      try await room.cancelled(number, at: Date())
      try await Task.sleep(for: .milliseconds(150))
    }
    let left = try await room.jobsWithHistory
    #expect(!left.contains(2) && left.contains(3))
  }
}
