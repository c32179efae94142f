import Glibc
import TestSupport
import Testing

@testable import Threads

/// With numbers in the place of the runtime's jobs: the end-to-end tests run on the real ones.
@Suite(.timeLimit(.minutes(5))) struct TaskThreadsTests {
  private static func job(_ number: Int) -> TaskThreads.Job {
    TaskThreads.Job(pointer: UnsafeMutableRawPointer(bitPattern: number)!)
  }

  @Test("every job is run once, whoever hands it in")
  func all() async throws {
    let seen = Watched<[Int: Int]>([:])
    let threads = TaskThreads(count: 3) { job in seen.mutate { $0[Int(bitPattern: job.pointer), default: 0] += 1 } }
    await withTaskGroup(of: Void.self) { group in
      for part in 0..<4 {
        group.addTask { for number in 1...1000 { threads.enqueue(Self.job(part * 1000 + number)) } }
      }
    }
    try await seen.wait(for: "4000 jobs") { $0.count == 4000 ? () : nil }
    #expect(seen.value.values.allSatisfy { $0 == 1 })
    // A thread that the machine held up may have got company, for a while.
    try await Self.waitUntil { threads.threadCount == 3 }
    #expect(threads.threadCount == 3)
  }

  @Test("while all threads are held up others come, up to the most; they go when it is over")
  func heldUp() async throws {
    let (held, done, proceed) = (Watched(0), Watched(0), Gate())
    let threads = TaskThreads(count: 2, maximum: 5) { job in
      if Int(bitPattern: job.pointer) <= 4 || Int(bitPattern: job.pointer) == 100 {
        held.mutate { $0 += 1 }
        while !proceed.isOpen { usleep(1000) }
      } else {
        done.mutate { $0 += 1 }
      }
    }
    for number in 1...4 { threads.enqueue(Self.job(number)) }
    for number in 5...100 { threads.enqueue(Self.job(number)) }
    // The last one keeps the fifth thread.
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

  @Test("there are no more than the most, and what waits is run when one is free")
  func most() async throws {
    let (held, done, proceed) = (Watched(0), Watched(0), Gate())
    let threads = TaskThreads(count: 2, maximum: 3) { _ in
      held.mutate { $0 += 1 }
      while !proceed.isOpen { usleep(1000) }
      done.mutate { $0 += 1 }
    }
    for number in 1...10 { threads.enqueue(Self.job(number)) }
    try await held.wait(for: "three that are held up") { $0 == 3 ? () : nil }
    try await Task.sleep(for: .milliseconds(400))
    #expect(held.value == 3 && threads.threadCount == 3)
    proceed.open()
    try await done.wait(for: "all") { $0 == 10 ? () : nil }
  }
}
