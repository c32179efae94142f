import NIOCore
import TestSupport
import Testing

@testable import transferd

@Suite(.timeLimit(.minutes(1))) struct AnswerQueueTests {
  @Test("everything is handed out in its order, and then the end", arguments: [0, 1, 100, 1 << 20])
  func order(limit: Int) async throws {
    let queue = AnswerQueue(limit: limit)
    async let taken: [String] = {
      var texts: [String] = []
      while let piece = await queue.next() { texts.append(String(buffer: piece)) }
      return texts
    }()
    let texts = (0..<500).map { "answer \($0)" }
    for text in texts { try await queue.append(ByteBuffer(string: text)) }
    queue.finish()
    #expect(await taken == texts)
  }

  @Test("who writes waits only beyond the limit")
  func limit() async throws {
    let queue = AnswerQueue(limit: 10)
    try await queue.append(ByteBuffer(string: "0123456789"))
    let isIn = Watched(false)
    let writer = Task {
      try await queue.append(ByteBuffer(string: "x"))
      isIn.mutate { $0 = true }
    }
    for _ in 0..<100 { await Task.yield() }
    #expect(!isIn.value)
    #expect(await queue.next().map(String.init(buffer:)) == "0123456789")
    try await writer.value
    #expect(isIn.value)
  }

  @Test("who writes to nobody is told so")
  func abandoned() async throws {
    let queue = AnswerQueue(limit: 1)
    let writer = Task { try await queue.append(ByteBuffer(string: "much")) }
    await Task.yield()
    queue.abandon()
    await #expect(throws: CancellationError.self) { try await writer.value }
    await #expect(throws: CancellationError.self) { try await queue.append(ByteBuffer(string: "more")) }
  }
}
