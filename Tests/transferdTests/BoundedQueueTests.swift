import TestSupport
import Testing

@testable import transferd

@Suite(.timeLimit(.minutes(5))) struct BoundedQueueTests {
  private func queue(_ limit: Int) -> BoundedQueue<String> { BoundedQueue(limit: limit) { $0.utf8.count } }

  @Test("elements come out in their order, then the end", arguments: [0, 1, 100, 1 << 20])
  func order(limit: Int) async throws {
    let queue = queue(limit)
    async let taken: [String] = {
      var texts: [String] = []
      while case let taken = await queue.next(upTo: 7), !taken.isEmpty { texts += taken }
      return texts
    }()
    let texts = (0..<500).map { "answer \($0)" }
    for text in texts { try await queue.append([text]) }
    queue.finish()
    #expect(await taken == texts)
  }

  @Test("append waits only beyond the limit")
  func limit() async throws {
    let queue = queue(10)
    try await queue.append(["0123456789"])
    let isIn = Watched(false)
    let writer = Task {
      try await queue.append(["x"])
      isIn.mutate { $0 = true }
    }
    for _ in 0..<100 { await Task.yield() }
    #expect(!isIn.value)
    #expect(await queue.next(upTo: 1) == ["0123456789"])
    try await writer.value
    #expect(isIn.value)
  }

  @Test("elements that were appended meanwhile are taken in groups")
  func groups() async throws {
    let queue = queue(1000)
    for number in 0..<10 { try await queue.append([String(number)]) }
    queue.finish()
    #expect(await queue.next(upTo: 4) == ["0", "1", "2", "3"])
    #expect(await queue.next(upTo: 100) == ["4", "5", "6", "7", "8", "9"])
    #expect(await queue.next(upTo: 100).isEmpty)
  }

  @Test("append throws when the queue is abandoned")
  func abandoned() async throws {
    let queue = queue(1)
    let writer = Task { try await queue.append(["much"]) }
    await Task.yield()
    queue.abandon()
    await #expect(throws: CancellationError.self) { try await writer.value }
    await #expect(throws: CancellationError.self) { try await queue.append(["more"]) }
    #expect(await queue.next(upTo: 5).isEmpty)
  }

  @Test("the limit grows as long as there is more memory")
  func extended() async throws {
    let steps = Watched(0)
    let queue = BoundedQueue<String>(limit: 10, weight: { $0.utf8.count }) {
      steps.mutate { steps in
        steps += 1
        return steps <= 2 ? 10 : 0
      }
    }
    for _ in 0..<3 { try await queue.append(["0123456789"]) }
    #expect(steps.value == 2)
    let writer = Task { try await queue.append(["x"]) }
    try await steps.wait(for: "a third step") { $0 == 3 ? () : nil }
    #expect(await queue.next(upTo: 1) == ["0123456789"])
    try await writer.value
  }
}
