import Glibc
import Synchronization
import TestSupport
import Testing

@testable import Threads

@Suite(.timeLimit(.minutes(5))) struct BlockingThreadPoolTests {
  @Test("a single thread runs work in the order of submission")
  func order() async {
    let threads = BlockingThreadPool("one", maximum: 1)
    let done = Mutex<[Int]>([])
    for number in 0..<1000 { threads.start { done.withLock { $0.append(number) } } }
    await threads.run {}
    let order = done.withLock { $0 }
    #expect(order == Array(0..<1000))
  }

  @Test("up to the maximum number of threads run at once", arguments: [1, 3, 8])
  func width(_ maximum: Int) async throws {
    let threads = BlockingThreadPool("some", maximum: maximum)
    let busy = Watched(0)
    let (most, proceed) = (Watched(0), Gate())
    let all = Task {
      await withTaskGroup(of: Void.self) { group in
        for _ in 0..<maximum * 3 {
          group.addTask {
            await threads.run {
              busy.mutate { $0 += 1 }
              most.mutate { $0 = max($0, busy.value) }
              while !proceed.isOpen { usleep(1000) }
              busy.mutate { $0 -= 1 }
            }
          }
        }
      }
    }
    try await most.wait(for: "\(maximum) at once") { $0 == maximum ? () : nil }
    proceed.open()
    await all.value
    #expect(most.value == maximum)
  }

  @Test("ten thousand jobs from many tasks each run once")
  func many() async {
    let threads = BlockingThreadPool("many", maximum: 4)
    let sum = Watched(0)
    await withTaskGroup(of: Void.self) { group in
      for number in 0..<10_000 {
        group.addTask { await threads.run { sum.mutate { $0 += number } } }
      }
    }
    #expect(sum.value == 10_000 * 9_999 / 2)
  }

  @Test("idle threads end, and new ones start on demand")
  func ending() async throws {
    let threads = BlockingThreadPool("few", maximum: 4, idleSeconds: 1)
    #expect(await threads.run { threads.count } == 1)
    let end = ContinuousClock.now + .seconds(60)
    while threads.count > 0, .now < end { try await Task.sleep(for: .milliseconds(20)) }
    #expect(threads.count == 0)
    #expect(await threads.run { 7 } == 7)
  }
}

@Suite struct QueueTests {
  @Test("the queue is first in, first out while it grows and wraps around")
  func order() {
    var queue = Queue<Int>()
    var (next, expected) = (0, 0)
    for round in 1...50 {
      for _ in 0..<round * 7 {
        queue.append(next)
        next += 1
      }
      for _ in 0..<round * 6 {
        #expect(queue.popFirst() == expected)
        expected += 1
      }
    }
    #expect(queue.count == next - expected)
    while let number = queue.popFirst() {
      #expect(number == expected)
      expected += 1
    }
    #expect(expected == next && queue.count == 0 && queue.popFirst() == nil)
  }

  @Test("removed elements are released")
  func release() {
    final class Thing {}
    var queue = Queue<Thing>()
    weak var thing: Thing?
    do {
      let made = Thing()
      thing = made
      queue.append(made)
    }
    #expect(thing != nil)
    _ = queue.popFirst()
    #expect(thing == nil)
  }
}
