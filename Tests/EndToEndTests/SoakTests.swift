import Foundation
import TestSupport
import Testing

@Suite("soak", .timeLimit(.minutes(10))) struct SoakTests {
  @Test("fifty downloads with twenty kills give fifty right files")
  func soak() async throws {
    let seed = UInt64.random(in: 0 ... .max)
    print("soak: seed \(seed)")
    var random = SeededGenerator(seed: seed)
    var payloads = [0, 1, 4095, 1 << 20, 8 << 20].map { Payload(size: $0, seed: seed) }
    while payloads.count < 50 {
      payloads.append(Payload(size: .random(in: 0..<5 << 20, using: &random), seed: seed &+ UInt64(payloads.count)))
    }
    let server = try LoopbackServer(
      files: Dictionary(
        uniqueKeysWithValues: payloads.enumerated().map { number, payload in
          ("/\(number)", .file(payload).dripping(bytesPerSecond: 2 << 20))
        }))
    let daemon = try await Daemon()
    let list = payloads.indices.map { server.url("/\($0)") + "\n" }.joined()
    let added = try await daemon.ctl("add", "-i", "-", "--batch", "soak", input: Data(list.utf8))
    #expect(added.lines.count == payloads.count)

    for kill in 0..<20 {
      let target = server.counters.bodyBytesSent + Int64.random(in: 1..<3 << 20, using: &random)
      do {
        try await server.waitForCounters(timeout: .seconds(20)) { $0.bodyBytesSent >= target }
      } catch {
        Issue.record("no job continues after kill \(kill) of seed \(seed)\n\(daemon.log)")
      }
      try await daemon.restart(by: SIGKILL)
    }
    let wait = try await daemon.ctl("wait", "--batch", "soak", timeout: .seconds(80))
    #expect(wait.status == 0, "seed \(seed): \(wait.stderr)")
    for job in try await daemon.jobs() {
      #expect(job.state == "completed", "seed \(seed): \(job)")
      #expect(job.attempt <= job.maxAttempts)
    }
    #expect(try daemon.fileNames.count == payloads.count)
    for (number, payload) in payloads.enumerated() {
      #expect(try sha256(ofFile: daemon.downloaded("\(number)")) == payload.sha256, "file \(number) of seed \(seed)")
    }
  }

  @Test("20,000 small files of three servers and thirty kills: every file is right, and none is completed twice")
  func smallFiles() async throws {
    let (count, kills) = (20_000, 30)
    let seed = UInt64.random(in: 0 ... .max)
    print("soak: seed \(seed)")
    var random = SeededGenerator(seed: seed)
    // Files are equal if their numbers are, modulo 97.
    let payloads = (0..<97).map { Payload(size: .random(in: 0..<8192, using: &random), seed: seed &+ $0) }
    let files = Dictionary(uniqueKeysWithValues: (0..<count).map { ("/\($0)", FileBehaviour.file(payloads[$0 % 97])) })
    let servers = try (0..<3).map { _ in try LoopbackServer(files: files) }
    let daemon = try await Daemon()
    let list = (0..<count).map { servers[$0 % 3].url("/\($0)") + "\n" }.joined()
    let added = try await daemon.ctl("add", "-i", "-", "--batch", "soak", input: Data(list.utf8))
    #expect(added.lines.count == count)

    for kill in 0..<kills {
      let server = servers[kill % 3]
      let target = server.counters.bodyBytesSent + Int64.random(in: 1..<600_000, using: &random)
      do {
        try await server.waitForCounters(timeout: .seconds(20)) { $0.bodyBytesSent >= target }
      } catch {
        Issue.record("no job continues after kill \(kill) of seed \(seed)\n\(daemon.log)")
      }
      try await daemon.restart(by: SIGKILL)
    }
    let wait = try await daemon.ctl("wait", "--batch", "soak", timeout: .seconds(240))
    #expect(wait.status == 0, "seed \(seed): \(wait.stderr)")
    #expect(try await daemon.completions().count { $0 == 1 } == count, "seed \(seed)")
    #expect(try daemon.fileNames.count == count)
    #expect(try daemon.partNames.isEmpty)
    var wrong: [Int] = []
    for number in 0..<count where try sha256(ofFile: daemon.downloaded("\(number)")) != payloads[number % 97].sha256 {
      wrong.append(number)
    }
    #expect(wrong.isEmpty, "seed \(seed)")
    // A kill costs the files that were running and those that had arrived and were not recorded: at most one group.
    let requests = servers.reduce(0) { $0 + $1.requests.count }
    #expect(requests <= count + kills * 256, "seed \(seed)")
  }
}
