import TestSupport
import Testing

@testable import transferd

@Suite struct TurnstileTests {
  @Test("so many are in at once, no more, and all get their turn")
  func places() async {
    let turnstile = Turnstile(places: 3)
    struct Inside: Sendable {
      var now = 0
      var most = 0
      var total = 0
    }
    let inside = Watched(Inside())
    await withTaskGroup(of: Void.self) { group in
      for _ in 0..<200 {
        group.addTask {
          await turnstile.enter()
          inside.mutate { inside in
            inside.now += 1
            inside.total += 1
            inside.most = max(inside.most, inside.now)
          }
          await Task.yield()
          inside.mutate { $0.now -= 1 }
          turnstile.leave()
        }
      }
    }
    #expect(inside.value.most <= 3 && inside.value.total == 200 && inside.value.now == 0)
  }

  @Test("those who wait come in in their order")
  func order() async throws {
    let turnstile = Turnstile(places: 1)
    await turnstile.enter()
    let order = Watched<[Int]>([])
    for number in 0..<5 {
      Task {
        await turnstile.enter()
        order.mutate { $0.append(number) }
        turnstile.leave()
      }
      while turnstile.waitingCount <= number { await Task.yield() }
    }
    turnstile.leave()
    try await order.wait(for: "all") { $0.count == 5 ? () : nil }
    #expect(order.value == [0, 1, 2, 3, 4])
  }
}
