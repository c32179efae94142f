import TestSupport
import Testing

@testable import HTTPServer

@Suite struct AsyncSemaphoreTests {
  @Test("no more tasks are inside than there are places, and all get in")
  func places() async {
    let semaphore = AsyncSemaphore(places: 3)
    struct Inside: Sendable {
      var now = 0
      var most = 0
      var total = 0
    }
    let inside = Watched(Inside())
    await withTaskGroup(of: Void.self) { group in
      for _ in 0..<200 {
        group.addTask {
          await semaphore.enter(for: 1)
          inside.mutate { inside in
            inside.now += 1
            inside.total += 1
            inside.most = max(inside.most, inside.now)
          }
          await Task.yield()
          inside.mutate { $0.now -= 1 }
          semaphore.leave()
        }
      }
    }
    #expect(inside.value.most <= 3 && inside.value.total == 200 && inside.value.now == 0)
  }

  @Test("tasks that wait get in in the order in which they asked")
  func order() async throws {
    let semaphore = AsyncSemaphore(places: 1)
    await semaphore.enter(for: 1)
    let order = Watched<[Int]>([])
    for number in 0..<5 {
      Task {
        await semaphore.enter(for: 1)
        order.mutate { $0.append(number) }
        semaphore.leave()
      }
      while semaphore.waitingCount <= number { await Task.yield() }
    }
    semaphore.leave()
    try await order.wait(for: "all") { $0.count == 5 ? () : nil }
    #expect(order.value == [0, 1, 2, 3, 4])
  }

  @Test("users take turns, however many tasks one of them has")
  func turns() async throws {
    let semaphore = AsyncSemaphore(places: 1)
    await semaphore.enter(for: 1)
    let order = Watched<[UInt32]>([])
    for (index, user) in ([1, 1, 1, 2, 2, 3] as [UInt32]).enumerated() {
      Task {
        await semaphore.enter(for: user)
        order.mutate { $0.append(user) }
        semaphore.leave()
      }
      while semaphore.waitingCount <= index { await Task.yield() }
    }
    semaphore.leave()
    try await order.wait(for: "all") { $0.count == 6 ? () : nil }
    #expect(order.value == [1, 2, 3, 1, 2, 1])
  }
}
