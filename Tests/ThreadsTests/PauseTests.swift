import Synchronization
import TestSupport
import Testing

@testable import Threads

@Suite(.timeLimit(.minutes(5))) struct PauseTests {
  @Test("it takes as long as it should, and not less")
  func length() async throws {
    for duration in [Duration.zero, .microseconds(1), .milliseconds(30), .seconds(-5)] {
      let start = ContinuousClock.now
      try await Task.pause(for: duration)
      #expect(.now - start >= duration)
    }
  }

  @Test("calls come in the order of their times")
  func order() async throws {
    let called = Watched<[Int]>([])
    var appointments: [(Int, Alarm.Appointment)] = []
    // Begun from the last to end to the first, so that each has to come before what waits already.
    for number in (0..<20).reversed() {
      let appointment = Alarm.shared.add(after: UInt64(300 + 20 * number) * 1_000_000) {
        called.mutate { $0.append(number) }
      }
      appointments.append((number, appointment))
    }
    try await called.wait(for: "all") { $0.count == 20 ? () : nil }
    #expect(called.value == appointments.sorted { $0.1 < $1.1 }.map(\.0))
  }

  @Test("who is cancelled hears it at once, and nothing of it is kept")
  func cancellation() async throws {
    // No other test's pause is as long.
    func waiting() -> Int { Alarm.shared.count(after: 900_000_000_000_000, before: 1_100_000_000_000_000) }
    let tasks = (0..<100).map { _ in Task { try await Task.pause(for: .seconds(1_000_000)) } }
    let end = ContinuousClock.now + .seconds(60)
    while waiting() < 100, .now < end { await Task.yield() }
    #expect(waiting() == 100)
    for task in tasks { task.cancel() }
    for task in tasks { await #expect(throws: CancellationError.self) { try await task.value } }
    #expect(waiting() == 0)
  }

  @Test("who was cancelled before does not pause")
  func cancelledBefore() async throws {
    let task = Task {
      while !Task.isCancelled { await Task.yield() }
      try await Task.pause(for: .seconds(3600))
    }
    task.cancel()
    await #expect(throws: CancellationError.self) { try await task.value }
  }

  @Test("a time beyond all clocks is no time that is over")
  func endless() async throws {
    for duration in [Duration.seconds(Int64.max), .seconds(300 * 365 * 86400)] {
      let task = Task { try await Task.pause(for: duration) }
      try await Task.pause(for: .milliseconds(20))
      task.cancel()
      await #expect(throws: CancellationError.self) { try await task.value }
    }
  }

  @Test("a cancellation beside the end ends it once")
  func race() async {
    await withTaskGroup(of: Void.self) { group in
      for _ in 0..<500 {
        let task = Task { try await Task.pause(for: .microseconds(Int64.random(in: 0...400))) }
        group.addTask { task.cancel() }
        group.addTask { _ = await task.result }
      }
    }
  }
}
