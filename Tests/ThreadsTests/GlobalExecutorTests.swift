import Glibc
import TestSupport
import Testing

@testable import Threads

/// Uses numbers instead of the runtime's jobs. The end-to-end tests use real jobs.
@Suite(.timeLimit(.minutes(5))) struct GlobalExecutorTests {
  private static func job(_ number: Int) -> GlobalExecutor.Job {
    GlobalExecutor.Job(pointer: UnsafeMutableRawPointer(bitPattern: number)!)
  }

  @Test("every job runs once, from whichever thread it is submitted")
  func all() async throws {
    let seen = Watched<[Int: Int]>([:])
    let threads = GlobalExecutor(count: 3) { job in seen.mutate { $0[Int(bitPattern: job.pointer), default: 0] += 1 } }
    await withTaskGroup(of: Void.self) { group in
      for part in 0..<4 {
        group.addTask { for number in 1...1000 { threads.enqueue(Self.job(part * 1000 + number)) } }
      }
    }
    try await seen.wait(for: "4000 jobs") { $0.count == 4000 ? () : nil }
    #expect(seen.value.values.allSatisfy { $0 == 1 })
    // If the machine delayed a thread, an additional one may have been started.
    try await Self.waitUntil { threads.threadCount == 3 }
    #expect(threads.threadCount == 3)
  }

  @Test("while all threads are blocked, more are started up to the maximum, and they end afterwards")
  func heldUp() async throws {
    let (held, done, proceed) = (Watched(0), Watched(0), Gate())
    let threads = GlobalExecutor(count: 2, maximum: 5) { job in
      if Int(bitPattern: job.pointer) <= 4 || Int(bitPattern: job.pointer) == 100 {
        held.mutate { $0 += 1 }
        while !proceed.isOpen { usleep(1000) }
      } else {
        done.mutate { $0 += 1 }
      }
    }
    for number in 1...4 { threads.enqueue(Self.job(number)) }
    for number in 5...100 { threads.enqueue(Self.job(number)) }
    // The last job keeps the fifth thread busy.
    try await held.wait(for: "five that are held up") { $0 == 5 ? () : nil }
    try await done.wait(for: "the others") { $0 == 95 ? () : nil }
    #expect(threads.threadCount == 5)
    proceed.open()
    try await Self.waitUntil { threads.threadCount == 2 }
    #expect(threads.threadCount == 2)
  }

  private static func waitUntil(_ isDone: () -> Bool) async throws {
    let end = ContinuousClock.now + .seconds(60)
    while !isDone(), .now < end { try await Task.sleep(for: .milliseconds(50)) }
  }

  @Test("the maximum is never exceeded, and waiting jobs run when a thread is free")
  func most() async throws {
    let (held, done, proceed) = (Watched(0), Watched(0), Gate())
    let threads = GlobalExecutor(count: 2, maximum: 3) { _ in
      held.mutate { $0 += 1 }
      while !proceed.isOpen { usleep(1000) }
      done.mutate { $0 += 1 }
    }
    for number in 1...10 { threads.enqueue(Self.job(number)) }
    try await held.wait(for: "three blocked threads") { $0 == 3 ? () : nil }
    // The executor looks for blocked threads every 100 ms. Alarms fire in the order of their times, so it has looked
    // at least three times after these.
    for _ in 0..<4 { try await Task.pause(for: .milliseconds(101)) }
    #expect(held.value == 3 && threads.threadCount == 3)
    proceed.open()
    try await done.wait(for: "all") { $0 == 10 ? () : nil }
  }
}
