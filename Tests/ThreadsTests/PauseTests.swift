import TestSupport
import Testing

@testable import Threads

@Suite(.timeLimit(.minutes(5))) struct PauseTests {
  @Test("a pause lasts at least its duration")
  func length() async throws {
    for duration in [Duration.zero, .microseconds(1), .milliseconds(30), .seconds(-5)] {
      let start = ContinuousClock.now
      try await Task.pause(for: duration)
      #expect(.now - start >= duration)
    }
  }

  @Test("calls are made in the order of their times")
  func order() async throws {
    let called = Watched<[Int]>([])
    var tokens: [(Int, Alarm.TimerToken)] = []
    // Added from the last to the first, so that each is earlier than those that are waiting.
    for number in (0..<20).reversed() {
      let token = Alarm.shared.add(after: UInt64(300 + 20 * number) * 1_000_000) {
        called.mutate { $0.append(number) }
      }
      tokens.append((number, token))
    }
    try await called.wait(for: "all") { $0.count == 20 ? () : nil }
    #expect(called.value == tokens.sorted { $0.1 < $1.1 }.map(\.0))
  }

  @Test("a cancelled pause ends at once and leaves no scheduled call")
  func cancellation() async throws {
    // No other test uses such a long pause.
    func waiting() -> Int { Alarm.shared.count(after: 900_000_000_000_000, before: 1_100_000_000_000_000) }
    let tasks = (0..<100).map { _ in Task { try await Task.pause(for: .seconds(1_000_000)) } }
    let end = ContinuousClock.now + .seconds(60)
    while waiting() < 100, .now < end { await Task.yield() }
    #expect(waiting() == 100)
    for task in tasks { task.cancel() }
    for task in tasks { await #expect(throws: CancellationError.self) { try await task.value } }
    #expect(waiting() == 0)
  }

  @Test("a task that was cancelled before does not pause")
  func cancelledBefore() async throws {
    let task = Task {
      while !Task.isCancelled { await Task.yield() }
      try await Task.pause(for: .seconds(3600))
    }
    task.cancel()
    await #expect(throws: CancellationError.self) { try await task.value }
  }

  @Test("a duration beyond the clock's range does not end early")
  func endless() async throws {
    for duration in [Duration.seconds(Int64.max), .seconds(300 * 365 * 86400)] {
      let task = Task { try await Task.pause(for: duration) }
      try await Task.pause(for: .milliseconds(20))
      task.cancel()
      await #expect(throws: CancellationError.self) { try await task.value }
    }
  }

  @Test("a cancellation at the same time as the end resumes the task once")
  func race() async {
    let ended = await withTaskGroup(of: Int.self) { group in
      for _ in 0..<500 {
        let task = Task { try await Task.pause(for: .microseconds(Int64.random(in: 0...400))) }
        group.addTask {
          task.cancel()
          return 0
        }
        group.addTask {
          // A second end would resume a continuation twice, which stops the program.
          guard case .failure(let error) = await task.result else { return 1 }
          return error is CancellationError ? 1 : 0
        }
      }
      return await group.reduce(0, +)
    }
    #expect(ended == 500)
  }
}
