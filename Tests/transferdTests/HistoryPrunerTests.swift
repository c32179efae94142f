import Foundation
import Logging
import Store
import TestSupport
import Testing

@testable import transferd

@Suite struct HistoryPrunerTests {
  /// A store with one job that was cancelled long ago.
  private final class Fixture: Sendable {
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

    func pruner(days: Int) -> HistoryPruner {
      var logger = Logger(label: "test")
      logger.logLevel = .critical
      return HistoryPruner(store: store, hub: hub, days: days, logger: logger)
    }

    var jobsWithHistory: Set<Int64> {
      get async throws { Set(try await store.events(since: 0, limit: 100, in: .everything).map(\.job.rawValue)) }
    }
  }

  @Test("history older than the given days is deleted", arguments: [(99, true), (101, false), (0, false)])
  func days(_ days: Int, _ goes: Bool) async throws {
    let fixture = try await Fixture()
    await fixture.pruner(days: days).prune(now: Date())
    #expect(try await fixture.jobsWithHistory == (goes ? [] : [1]))
  }

  /// A pruner whose clock the test sets. It records how often the clock was read, which is once per event.
  private struct Run: Sendable {
    let pruner: HistoryPruner
    let runs = Watched(0)
    let clock = Watched((seconds: 0, reads: 0))

    func start() async throws -> Task<Void, Never> {
      let origin = ContinuousClock.now
      let task = Task {
        await pruner.run(every: .seconds(600)) {
          clock.mutate { $0.reads += 1 }
          return origin + .seconds(clock.value.seconds)
        } didPrune: {
          runs.mutate { $0 += 1 }
        }
      }
      try await runs.wait(for: "the first run") { $0 == 1 ? () : nil }
      return task
    }
  }

  @Test("it prunes at the start, and ignores events before the interval has passed")
  func start() async throws {
    let fixture = try await Fixture()
    let run = Run(pruner: fixture.pruner(days: 90))
    let task = try await run.start()
    defer { task.cancel() }
    #expect(try await fixture.jobsWithHistory == [])
    let reads = run.clock.value.reads
    run.clock.mutate { $0.seconds = 599 }
    try await fixture.cancelled(2, at: Fixture.longAgo)
    try await run.clock.wait(for: "a look at the event") { $0.reads > reads ? () : nil }
    #expect(try await fixture.jobsWithHistory == [2] && run.runs.value == 1)
  }

  @Test("after the interval it prunes at the next event, once; a reload counts")
  func interval() async throws {
    let fixture = try await Fixture()
    let run = Run(pruner: fixture.pruner(days: 90))
    let task = try await run.start()
    defer { task.cancel() }
    run.pruner.setRetention(days: 0)
    // Time alone starts no run, so the event starts the second one: an idle daemon does not wake up.
    run.clock.mutate { $0.seconds = 600 }
    try await fixture.cancelled(2, at: Fixture.longAgo)
    try await run.runs.wait(for: "the second run") { $0 >= 2 ? () : nil }
    #expect(try await fixture.jobsWithHistory == [2] && run.runs.value == 2)
    run.pruner.setRetention(days: 1)
    run.clock.mutate { $0.seconds = 1200 }
    try await fixture.cancelled(3, at: Date())
    try await run.runs.wait(for: "the third run") { $0 >= 3 ? () : nil }
    #expect(try await fixture.jobsWithHistory == [3] && run.runs.value == 3)
  }
}
