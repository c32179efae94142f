import Foundation
import TestSupport
import Testing

/// A pause keeps the bytes, a resume continues with them, cancel and remove delete the part file.
@Suite("pause, cancel and remove", .timeLimit(.minutes(5))) struct PauseTests {
  @Test("a resume downloads no byte again", arguments: [nil, SIGTERM, SIGKILL])
  func resumed(restart: Int32?) async throws {
    let payload = Payload(size: 6 << 20, seed: 1)
    let reached = Gate()
    let server = try LoopbackServer(.file(payload).holding(after: 4 << 20, reached: reached, until: Gate()))
    let daemon = try await Daemon()
    let id = try await daemon.add(server.url("/a"), "-o", "a")
    try await reached.wait()
    try await daemon.waitForParts(holding: 4 << 20)
    #expect(try await daemon.ctl("pause", id).status == 0)
    let paused = try await daemon.job(id)
    let kept = try daemon.partSize
    #expect(paused.state == "paused")
    #expect(kept == 4 << 20)
    #expect(paused.bytesDone == kept)
    try await server.waitForCounters { $0.openRequests == 0 }
    if let restart {
      try await daemon.restart(by: restart)
      #expect(try await daemon.job(id).state == "paused")
      #expect(try await daemon.job(id).bytesDone == kept)
    }
    #expect(server.requests.count == 1)
    #expect(try await daemon.ctl("resume", id).status == 0)
    try await daemon.expectCompleted(id, payload, as: "a")
    #expect(server.requests.map(\.start) == [0, kept])
  }

  /// Regression: appended bytes counted as downloaded, because the part file's length is trusted within one boot.
  @Test(
    "bytes that another program appends to a paused job's part file are not used", arguments: [nil, SIGTERM, SIGKILL])
  func appended(restart: Int32?) async throws {
    let payload = Payload(size: 6 << 20, seed: 4)
    let server = try LoopbackServer(.file(payload).holding(after: 2 << 20, until: Gate()))
    let daemon = try await Daemon()
    let id = try await daemon.add(server.url("/a"), "-o", "a")
    try await daemon.waitForParts(holding: 2 << 20)
    #expect(try await daemon.ctl("pause", id).status == 0)
    let part = try FileHandle(forWritingAtPath: daemon.downloaded(#require(try daemon.partNames.first)))
    try part?.seekToEnd()
    try part?.write(contentsOf: Data(repeating: 0x7A, count: 100_000))
    try part?.close()
    #expect(try daemon.partSize == 2 << 20 + 100_000)
    if let restart { try await daemon.restart(by: restart) }
    #expect(try await daemon.ctl("resume", id).status == 0)
    try await daemon.expectCompleted(id, payload, as: "a")
    #expect(server.requests.map(\.start) == [0, 2 << 20])
  }

  @Test("after a pause, a resume and a kill all received bytes count")
  func killedAfterResume() async throws {
    let payload = Payload(size: 6 << 20, seed: 5)
    let server = try LoopbackServer(.file(payload).holding(after: 2 << 20, until: Gate(), on: .first(2)))
    let daemon = try await Daemon()
    let id = try await daemon.add(server.url("/a"), "-o", "a")
    try await daemon.waitForParts(holding: 2 << 20)
    #expect(try await daemon.ctl("pause", id).status == 0)
    #expect(try await daemon.ctl("resume", id).status == 0)
    try await daemon.waitForParts(holding: 4 << 20)
    try await daemon.restart(by: SIGKILL)
    try await daemon.expectCompleted(id, payload, as: "a")
    #expect(server.requests.dropLast().map(\.start) == [0, 2 << 20])
    // The last 64 KiB are compared unless a checkpoint covers all bytes.
    let starts: [Int64] = [4 << 20, (4 << 20) - 64 << 10]
    #expect(starts.contains(try #require(server.requests.last).start))
  }

  /// The situation of a job when it is cancelled or removed. Each has a part file.
  enum Situation: String, CaseIterable { case running, paused, retrying, failed }

  @Test("a cancelled or removed job leaves no part file", arguments: Situation.allCases, ["cancel", "remove"])
  func gone(_ situation: Situation, verb: String) async throws {
    let file = FileBehaviour.file(size: 4 << 20)
    let server = try LoopbackServer(
      situation == .running || situation == .paused
        ? file.holding(after: 3 << 20, until: Gate())
        : file.dropping(after: 3 << 20).failing(503, on: .after(1), retryAfter: .seconds(60)))
    let daemon = try await Daemon()
    let retries = situation == .failed ? ["--retries", "0"] : []
    let id = try await daemon.addJob([server.url("/a"), "-o", "a"] + retries)
    switch situation {
    case .running: try await daemon.waitForParts(holding: 1)
    case .paused:
      try await daemon.waitForParts(holding: 1)
      #expect(try await daemon.ctl("pause", id).status == 0)
    case .retrying: try await daemon.failed(with: "http-503", id)
    case .failed: _ = try await daemon.finished(id)
    }
    #expect(try await daemon.job(id).state == situation.rawValue)
    #expect(try daemon.partNames.count == 1)
    let isRefused = situation == .failed && verb == "cancel"
    #expect(try await daemon.ctl(verb, id).status == (isRefused ? 6 : 0))
    if isRefused { return }
    #expect(try daemon.fileNames.isEmpty)
    if verb == "cancel" {
      #expect(try await daemon.job(id).state == "cancelled")
    } else {
      #expect(try await daemon.ctl("status", id).status == 4)
    }
    try await server.waitForCounters { $0.openRequests == 0 }
    try await daemon.restart(by: SIGKILL)
    #expect(try daemon.fileNames.isEmpty)
  }

  /// The attempt had ended by itself and was about to be stored as retrying when the request came. Regression: nothing
  /// removed the part file.
  @Test(
    "a request that comes while the end of an attempt is stored leaves no part file", arguments: ["cancel", "remove"])
  func whileSettling(verb: String) async throws {
    let (reached, proceed) = (Gate(), Gate())
    let server = try LoopbackServer(
      .file(size: 4 << 20).interrupting(
        after: 3 << 20, on: .first(1), with: .signal(reached), .waitFor(proceed), .reset
      ).failing(503, on: .after(1), retryAfter: .seconds(60)))
    let daemon = try await Daemon()
    let id = try await daemon.add(server.url("/a"), "-o", "a")
    try await reached.wait()
    try await daemon.waitForParts(holding: 3 << 20)
    let trap = try await Interception(
      daemon, calls: "fdatasync", paths: [daemon.statePath("transferd.db-wal")], doing: "delay_enter=2000000")
    proceed.open()
    try await server.waitForCounters { $0.openConnections == 0 }
    // The commit takes 2 s from now; the request reaches the daemon in a fraction of that.
    let result = try await daemon.ctl(verb, id)
    #expect(result.status == 0, "\(result.stderr)\(daemon.log)")
    try await trap.detach()
    #expect(try daemon.fileNames.isEmpty)
  }

  @Test("simultaneous requests of several clients end in one state, without part file or transfer")
  func quickly() async throws {
    let server = try LoopbackServer(.file(size: 64 << 20).dripping(bytesPerSecond: 1 << 20))
    let daemon = try await Daemon()
    let id = try await daemon.add(server.url("/a"), "-o", "a")
    try await withThrowingTaskGroup(of: Void.self) { group in
      for verbs in [["pause", "resume"], ["resume", "pause"], ["cancel", "retry", "pause", "resume"]] {
        group.addTask {
          for round in 0..<6 * verbs.count {
            let result = try await daemon.ctl(verbs[round % verbs.count], id)
            #expect(result.status == 0 || result.status == 6, "\(result.stderr)")
          }
        }
      }
      try await group.waitForAll()
    }
    _ = try await daemon.ctl("cancel", id)
    #expect(try await daemon.job(id).state == "cancelled")
    #expect(try daemon.fileNames.isEmpty)
    try await server.waitForCounters { $0.openRequests == 0 }
    try await daemon.restart(by: SIGKILL)
    #expect(try await daemon.job(id).state == "cancelled")
    #expect(try daemon.fileNames.isEmpty)
  }

  @Test("a cancel that races with the completion leaves a complete file or none")
  func racing() async throws {
    let payload = Payload(size: 200_000, seed: 8)
    let server = try LoopbackServer(.file(payload))
    let daemon = try await Daemon()
    for round in 0..<10 {
      let id = try await daemon.add(server.url("/a"), "-o", "a\(round)")
      let cancel = try await daemon.ctl("cancel", id)
      let job = try await daemon.finished(id)
      #expect(job.state == (cancel.status == 0 ? "cancelled" : "completed"))
      #expect(FileManager.default.fileExists(atPath: daemon.downloaded("a\(round)")) == (job.state == "completed"))
    }
    #expect(try daemon.partNames.isEmpty)
  }
}
