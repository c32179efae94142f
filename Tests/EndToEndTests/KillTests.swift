import Foundation
import TestSupport
import Testing

/// Jobs continue by themselves after the daemon was killed.
@Suite("kill -9", .timeLimit(.minutes(5))) struct KillTests {
  /// The number of bytes that may be downloaded twice per kill.
  static let refetched: Int64 = 1 << 20

  @Test("twelve kills in one download cost at most 1 MiB each, and the result is right")
  func manyKills() async throws {
    let seed = UInt64.random(in: 0 ... .max)
    var random = SeededGenerator(seed: seed)
    let payload = Payload(size: 40 << 20, seed: seed)
    // The kill comes after this many bytes of a response, while the rest is sent slowly.
    let moments = (0..<12).map { _ in (bytes: Int64.random(in: 1..<3 << 20, using: &random), reached: Gate()) }
    var file = FileBehaviour.file(payload)
    for (number, moment) in moments.enumerated() {
      file = file.interrupting(
        after: moment.bytes, on: .at(number), with: .signal(moment.reached), .drip(bytesPerSecond: 1 << 18))
    }
    let server = try LoopbackServer(file)
    let daemon = try await Daemon()
    let id = try await daemon.add(server.url("/big"), "-o", "big", "--checksum", "sha-256=\(payload.sha256)")
    for (number, moment) in moments.enumerated() {
      try await moment.reached.wait()
      try await daemon.kill9()
      #expect(try !daemon.fileNames.contains("big"))
      let kept = try daemon.partSize
      try await daemon.start()
      let next = try await server.waitForRequests(number + 2)[number + 1]
      #expect(next.start <= kept)
      #expect(kept - next.start <= Self.refetched, "kill \(number) of seed \(seed)")
      #expect(["running", "completed"].contains(try await daemon.job(id).state))
    }
    try await daemon.expectCompleted(id, payload, as: "big")
    #expect(server.requests.count == moments.count + 1)
  }

  @Test("a kill before the first record costs the received bytes")
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

  @Test("a kill during the wait for a retry keeps the time of the retry")
  func whileRetrying() async throws {
    let server = try LoopbackServer(.file(size: 1).failing(503, retryAfter: .seconds(60)))
    let daemon = try await Daemon()
    let id = try await daemon.add(server.url("/a"), "-o", "a")
    try await daemon.reached("retrying", by: id)
    let before = try await daemon.job(id)
    try await daemon.restart(by: SIGKILL)
    let after = try await daemon.job(id)
    #expect(after.state == "retrying")
    #expect(after.retryAt == before.retryAt)
    #expect(after.attempt == before.attempt)
    #expect(server.requests.count == 1)
  }

  @Test("a killed job whose file the server names keeps one part file and one name")
  func namedByResponse() async throws {
    let payload = Payload(size: 6 << 20, seed: 5)
    let server = try LoopbackServer(
      .file(payload).contentDisposition("attachment; filename=\"given.bin\"").holding(after: 3 << 20, until: Gate()))
    let daemon = try await Daemon()
    let id = try await daemon.add(server.url("/x?id=1"), "-J")
    try await daemon.waitForParts(holding: 3 << 20)
    try await daemon.kill9()
    #expect(try daemon.partNames.count == 1)
    try await daemon.start()
    try await daemon.expectCompleted(id, payload, as: "given.bin")
    // The last 64 KiB are compared unless a checkpoint covers all bytes.
    let starts: [Int64] = [3 << 20, (3 << 20) - 64 << 10]
    #expect(starts.contains(server.requests[1].start))
  }

  @Test("bytes that another program writes to the part file are not in the result", arguments: Tampering.allCases)
  func tampering(_ tampering: Tampering) async throws {
    let payload = Payload(size: 8 << 20, seed: 8)
    let server = try LoopbackServer(
      .file(payload).holding(after: 4 << 20, until: Gate(), on: .at(0))
        .holding(after: 2 << 20, until: Gate(), on: .at(1)))
    let daemon = try await Daemon()
    let id = try await daemon.add(server.url("/a"), "-o", "a")
    try await daemon.waitForParts(holding: 4 << 20)
    // A pause checkpoints all received bytes.
    #expect(try await daemon.ctl("pause", id).status == 0)
    #expect(try await daemon.ctl("resume", id).status == 0)
    try await daemon.waitForParts(holding: 6 << 20)
    try await daemon.kill9()
    // On a slow machine there may have been a second checkpoint.
    let durable = try await daemon.checkpoint(of: id)
    let size = try daemon.partSize
    let file = try FileHandle(
      forUpdating: URL(fileURLWithPath: daemon.downloaded(try #require(try daemon.partNames.first))))
    let (place, count) = tampering.bytes(beyond: durable, of: size, total: payload.size)
    try file.seek(toOffset: UInt64(place))
    try file.write(contentsOf: Data(repeating: 0xA5, count: Int(count)))
    try file.close()
    try await daemon.start()
    try await daemon.expectCompleted(id, payload, as: "a")
    // No checkpointed byte is downloaded again, except the 64 KiB that are compared.
    #expect(server.requests.dropFirst(2).allSatisfy { $0.start >= durable - 64 << 10 })
  }

  /// The change to the part file of a killed daemon.
  enum Tampering: String, CaseIterable, CustomTestStringConvertible {
    case appended, filledToTheEnd, grownBeyondTheEnd, overwritten
    var testDescription: String { rawValue }

    func bytes(beyond durable: Int64, of size: Int64, total: Int64) -> (place: Int64, count: Int64) {
      switch self {
      case .appended: (size, 100_000)
      case .filledToTheEnd: (size, total - size)
      case .grownBeyondTheEnd: (size, total - size + 100_000)
      case .overwritten: (max(durable, size - 2000), 1000)
      }
    }
  }

  @Test("after a reboot, bytes without a checkpoint are not trusted")
  func powerCut() async throws {
    let payload = Payload(size: 8 << 20, seed: 6)
    let server = try LoopbackServer(
      .file(payload).holding(after: 4 << 20, until: Gate(), on: .at(0))
        .holding(after: 2 << 20, until: Gate(), on: .at(1)))
    let daemon = try await Daemon()
    let id = try await daemon.add(server.url("/a"), "-o", "a")
    try await daemon.waitForParts(holding: 4 << 20)
    // A pause checkpoints all received bytes.
    #expect(try await daemon.ctl("pause", id).status == 0)
    let safe = try daemon.partSize
    #expect(try await daemon.ctl("resume", id).status == 0)
    try await daemon.waitForParts(holding: 6 << 20)
    try await daemon.kill9()
    // On a slow machine there may have been a second checkpoint.
    let durable = try await daemon.checkpoint(of: id)
    #expect(durable >= safe)
    let part = daemon.downloaded(try #require(try daemon.partNames.first))
    let file = try FileHandle(forUpdating: URL(fileURLWithPath: part))
    try file.seek(toOffset: UInt64(durable))
    try file.write(contentsOf: Data(count: 1 << 20))
    try file.close()

    let boot = try daemon.directory.file("boot-id", text: "00000000-0000-4000-8000-000000000000\n")
    let mount = "mount --bind \(boot) /proc/sys/kernel/random/boot_id && exec \"$0\" \"$@\""
    try daemon.launch(through: [BuiltPrograms.system("unshare"), "-m", BuiltPrograms.system("sh"), "-c", mount])
    try await daemon.waitUntilReady()
    try await daemon.expectCompleted(id, payload, as: "a")
    #expect(server.requests.map(\.start) == [0, safe, durable])
  }
}
