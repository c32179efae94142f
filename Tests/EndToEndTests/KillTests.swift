import Foundation
import TestSupport
import Testing

/// P3: whatever is killed goes on by itself.
@Suite("kill -9", .timeLimit(.minutes(2))) struct KillTests {
  /// Bytes that may be fetched twice for each kill.
  static let refetched: Int64 = 1 << 20

  @Test("fifteen times in one download costs at most 1 MiB each and no byte of the result")
  func manyKills() async throws {
    let seed = UInt64.random(in: 0 ... .max)
    var random = SeededGenerator(seed: seed)
    let payload = Payload(size: 40 << 20, seed: seed)
    let server = try LoopbackServer(.file(payload).dripping(bytesPerSecond: 24 << 20))
    let daemon = try await Daemon()
    let id = try await daemon.add(server.url("/big"), "-o", "big", "--checksum", "sha-256=\(payload.sha256)")
    var kills = 0
    while kills < 15 {
      let target = server.counters.bodyBytesSent + .random(in: 0..<4 << 20, using: &random)
      guard target < payload.size * 9 / 10 else { break }
      try await server.waitForCounters { $0.bodyBytesSent >= target }
      try await daemon.kill9()
      kills += 1
      #expect(try !daemon.fileNames.contains("big"))
      let kept = try daemon.partSize
      let asked = server.requests.count
      try await daemon.start()
      let next = try await server.waitForRequests(asked + 1)[asked]
      #expect(next.start <= kept)
      #expect(kept - next.start <= Self.refetched, "kill \(kills) of seed \(seed)")
      #expect(["running", "completed"].contains(try await daemon.job(id).state))
    }
    #expect(kills >= 10)
    try await daemon.expectCompleted(id, payload, as: "big")
  }

  @Test("before the first record costs what had come")
  func beforeTheRecord() async throws {
    let payload = Payload(size: 4 << 20, seed: 3)
    let (reached, never) = (Gate(), Gate())
    let server = try LoopbackServer(.file(payload).holding(after: 4096, reached: reached, until: never))
    let daemon = try await Daemon()
    let id = try await daemon.add(server.url("/a"), "-o", "a")
    try await reached.wait()
    try await daemon.kill9()
    try await daemon.start()
    try await daemon.expectCompleted(id, payload, as: "a")
    #expect(server.requests.count == 2)
  }

  @Test("while a retry is waited for leaves the time of the retry as it was")
  func whileRetrying() async throws {
    let payload = Payload(size: 100_000, seed: 4)
    let server = try LoopbackServer(.file(payload).failing(503, on: .first(1), retryAfter: .seconds(3)))
    let daemon = try await Daemon()
    let id = try await daemon.add(server.url("/a"), "-o", "a")
    try await daemon.reached("retrying", by: id)
    let start = ContinuousClock.now
    let before = try await daemon.job(id)
    try await daemon.kill9()
    try await daemon.start()
    let after = try await daemon.job(id)
    #expect(after.state == "retrying")
    #expect(after.retryAt == before.retryAt)
    try await daemon.expectCompleted(id, payload, as: "a")
    #expect(.now - start < .seconds(15))
  }

  @Test("of a job that waits for the server to name its file keeps one part file and one name")
  func namedByResponse() async throws {
    let payload = Payload(size: 6 << 20, seed: 5)
    let (reached, never) = (Gate(), Gate())
    let server = try LoopbackServer(
      .file(payload).contentDisposition("attachment; filename=\"given.bin\"")
        .holding(after: 3 << 20, reached: reached, until: never))
    let daemon = try await Daemon()
    let id = try await daemon.add(server.url("/x?id=1"), "-J")
    try await reached.wait()
    try await daemon.kill9()
    #expect(try daemon.partNames.count == 1)
    try await daemon.start()
    try await daemon.expectCompleted(id, payload, as: "given.bin")
    #expect(server.requests[1].start > 0)
  }
}
