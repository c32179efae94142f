import Synchronization
import TestSupport
import Testing

@testable import Threads

@Suite(.timeLimit(.minutes(1))) struct PauseTests {
  @Test("it takes as long as it should, and not less")
  func length() async throws {
    for duration in [Duration.zero, .microseconds(1), .milliseconds(30), .seconds(-5)] {
      let start = ContinuousClock.now
      try await Task.pause(for: duration)
      #expect(.now - start >= duration)
    }
  }

  @Test("many at once end in the order of their ends")
  func order() async throws {
    let ended = Watched<[Int]>([])
    // Begun from the last to end to the first, so that each has to come before what waits already.
    var tasks: [Task<Void, any Error>] = []
    for number in (0..<20).reversed() {
      tasks.append(
        Task {
          try await Task.pause(for: .milliseconds(200 + 20 * number))
          ended.mutate { $0.append(number) }
        })
    }
    for task in tasks { try await task.value }
    let order = ended.value
    #expect(order.count == 20)
    // Whoever is woken first need not be the first to run: neighbours may change places on a busy machine.
    #expect(zip(order, order.sorted()).allSatisfy { abs($0 - $1) <= 5 }, "\(order)")
  }

  @Test("who is cancelled hears it at once, and nothing of it is kept")
  func cancellation() async throws {
    let before = Alarm.shared.count
    let tasks = (0..<100).map { _ in Task { try await Task.pause(for: .seconds(3600)) } }
    let end = ContinuousClock.now + .seconds(30)
    while Alarm.shared.count < before + 100, .now < end { await Task.yield() }
    #expect(Alarm.shared.count >= before + 100)
    for task in tasks { task.cancel() }
    for task in tasks { await #expect(throws: CancellationError.self) { try await task.value } }
    // Other tests may pause meanwhile, but not a hundred times.
    #expect(Alarm.shared.count < before + 100)
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
