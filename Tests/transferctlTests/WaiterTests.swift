import FoundationEssentials
import Synchronization
import TestSupport
import Testing
import TransferAPI

@testable import transferctl

@Suite struct JobBoardTests {
  @Test("sums follow each change")
  func sums() {
    var board = JobBoard()
    board.read(sampleJob(1, .queued))
    board.read(sampleJob(2, .running, done: 5, total: 10, rate: 3))
    #expect(board.unfinished == 2)
    #expect(board.bytes.total == nil)
    #expect(board.bytesPerSecond == 3)
    board.apply(Progress(job: JobID(2), bytesDone: 8, bytesTotal: 10, bytesPerSecond: 4))
    #expect(board.bytes.done == 8)
    board.remove(JobID(1))
    #expect(board.bytes.total == 10)
    #expect(board.apply(sampleEvent(1, 2, to: .completed)) == .completed)
    #expect(board.isSettled)
    #expect(board.counts[.completed] == 1)
    #expect(board.running.isEmpty)
    #expect(board.bytes.done == 10)
  }

  @Test("a late number does not make a job run again")
  func lateProgress() {
    var board = JobBoard()
    board.read(sampleJob(1, .paused, done: 5, total: 10))
    board.apply(Progress(job: JobID(1), bytesDone: 9, bytesTotal: 10, bytesPerSecond: 4))
    board.apply(Progress(job: JobID(7), bytesDone: 9, bytesTotal: 10, bytesPerSecond: 4))
    #expect(board.bytes.done == 5)
    #expect(board.entries.count == 1)
  }

  @Test("whatever did not complete is a failure, with words")
  func failures() {
    var board = JobBoard()
    let error = JobFailure(code: .http(404), message: "no such file", httpStatus: 404, transient: false)
    board.read(sampleJob(4, .failed, error: error))
    board.read(sampleJob(3, .cancelled))
    board.read(sampleJob(2, .completed))
    board.read(sampleJob(1, .queued))
    board.remove(JobID(1))
    #expect(
      board.failures.map(\.words) == [
        "job 1 was removed", "job 3 was cancelled", "job 4 failed: no such file (http-404)",
      ])
  }

  @Test("claims of servers do not overflow the sums")
  func overflow() {
    var board = JobBoard()
    board.read(sampleJob(1, done: .max, total: .max))
    board.read(sampleJob(2, done: .max, total: .max))
    board.remove(JobID(1))
    #expect(board.bytes.total == .max)
  }
}

@Suite struct WaiterTests {
  private func waiter(_ target: WaitTarget, _ daemon: ScriptedDaemon) throws -> Waiter {
    let display = ProgressDisplay(Terminal(-1, environment: [:]), write: { _ in })
    return Waiter(target, connection: try daemon.connection(), display: display)
  }

  /// `add --wait` of a small file said nothing where the file was there before the wait began.
  @Test("what was just added is told of, though it has ended already", arguments: [true, false])
  func told(tellsEnded: Bool) async throws {
    let daemon = ScriptedDaemon { _, path, _ in
      path == "/v1/stats"
        ? try ScriptedDaemon.stats(lastEvent: 9)
        : try ScriptedDaemon.page([sampleJob(1, .completed), sampleJob(2, .failed)])
    }
    let words = Watched<[String]>([])
    let display = ProgressDisplay(Terminal(-1, environment: [:]), write: { text in words.mutate { $0.append(text) } })
    let waiter = Waiter(
      .ids([JobID(1), JobID(2)]), connection: try daemon.connection(), tellsEnded: tellsEnded, display: display)
    #expect(try await waiter.run(from: daemon.client) == .failed)
    #expect(words.value.map { $0.hasPrefix("job 1 completed") } == (tellsEnded ? [true, false] : []))
    #expect(words.value.count(where: { $0.hasPrefix("job 2 failed") }) == (tellsEnded ? 1 : 0))
  }

  @Test("jobs that have ended need no stream")
  func ended() async throws {
    let daemon = ScriptedDaemon { _, path, _ in
      path == "/v1/stats"
        ? try ScriptedDaemon.stats(lastEvent: 9) : try ScriptedDaemon.page([sampleJob(1, .completed)])
    }
    let end = try await waiter(.ids([JobID(1)]), daemon).run(from: daemon.client)
    #expect(end == .done)
    #expect(daemon.requests == ["GET /v1/stats", "GET /v1/jobs?ids=1&limit=500"])
  }

  @Test(
    "the newest event's number is asked for before the states, and streamed from", .timeLimit(.minutes(5)))
  func order() async throws {
    let daemon = ScriptedDaemon { _, path, count in
      if path == "/v1/stats" { return try ScriptedDaemon.stats(lastEvent: 41) }
      if path.hasPrefix("/v1/events") {
        return (200, try serverSentEvent(sampleEvent(42, 1, to: .completed)) + "…")
      }
      return try ScriptedDaemon.page([sampleJob(1, count == 0 ? .running : .completed)])
    }
    let end = try await waiter(.ids([JobID(1)]), daemon).run(from: daemon.client)
    #expect(end == .done)
    #expect(
      daemon.requests == [
        "GET /v1/stats", "GET /v1/jobs?ids=1&limit=500", "GET /v1/events?since=41&jobs=1&progress=true",
        // Once for the size and name of what ended, once to be sure before ending.
        "GET /v1/jobs?ids=1&limit=500", "GET /v1/jobs?ids=1&limit=500",
      ])
  }

  /// The job had failed and was retried between the two questions; the stream tells the failure again.
  @Test("an old failure told again does not end the wait", .timeLimit(.minutes(5)))
  func replay() async throws {
    let error = JobFailure(code: .dns, message: "x", transient: true)
    let daemon = ScriptedDaemon { _, path, count in
      if path == "/v1/stats" { return try ScriptedDaemon.stats(lastEvent: 1) }
      if path.hasPrefix("/v1/events") {
        let events = [
          sampleEvent(2, 1, to: .failed, error: error), sampleEvent(3, 1, to: .queued),
          sampleEvent(4, 1, to: .running), sampleEvent(5, 1, to: .completed),
        ]
        return (200, try events.map(serverSentEvent).joined() + "…")
      }
      return try ScriptedDaemon.page([sampleJob(1, count < 2 ? .running : .completed)])
    }
    #expect(try await waiter(.ids([JobID(1)]), daemon).run(from: daemon.client) == .done)
  }

  @Test("a job that fails, or is removed, ends the wait with 1", arguments: [true, false])
  func failing(isRemoved: Bool) async throws {
    let daemon = ScriptedDaemon { _, path, count in
      if path == "/v1/stats" { return try ScriptedDaemon.stats(lastEvent: 1) }
      if path.hasPrefix("/v1/events") {
        let event =
          isRemoved ? sampleEvent(2, 1, .removed, to: nil) : sampleEvent(2, 1, to: .failed)
        return (200, try serverSentEvent(event) + "…")
      }
      if count == 0 { return try ScriptedDaemon.page([sampleJob(1, .running)]) }
      return try ScriptedDaemon.page(isRemoved ? [] : [sampleJob(1, .failed)])
    }
    #expect(try await waiter(.ids([JobID(1)]), daemon).run(from: daemon.client) == .failed)
  }

  @Test("a daemon that restarts does not break the wait", .timeLimit(.minutes(5)))
  func restart() async throws {
    let daemon = ScriptedDaemon { _, path, count in
      if path == "/healthz" { return (200, "ok") }
      if path == "/v1/stats" { return try ScriptedDaemon.stats(lastEvent: Int64(count)) }
      if path.hasPrefix("/v1/events") { return (200, ": and gone\n\n") }
      return try ScriptedDaemon.page([sampleJob(1, count == 0 ? .running : .completed)])
    }
    #expect(try await waiter(.ids([JobID(1)]), daemon).run(from: daemon.client) == .done)
    #expect(daemon.requests.contains("GET /healthz"))
  }

  @Test("time out", .timeLimit(.minutes(5)))
  func timeout() async throws {
    let daemon = ScriptedDaemon { _, path, _ in
      if path == "/v1/stats" { return try ScriptedDaemon.stats(lastEvent: 1) }
      if path.hasPrefix("/v1/events") { return (200, "…") }
      return try ScriptedDaemon.page([sampleJob(1, .queued)])
    }
    let end = try await waiter(.all, daemon).run(from: daemon.client, timeout: .milliseconds(50))
    #expect(end == .timedOut)
  }

  @Test("unknown ids and batches end with 4; nothing at all is done")
  func unknown() async throws {
    let daemon = ScriptedDaemon { _, path, _ in
      if path == "/v1/stats" { return try ScriptedDaemon.stats(lastEvent: 0) }
      if path.hasPrefix("/v1/batches/") { return try ScriptedDaemon.problem(.notFound, "no batch b") }
      return try ScriptedDaemon.page([])
    }
    await #expect(throws: CommandFailure(.notFound)) {
      try await waiter(.ids([JobID(7)]), daemon).run(from: daemon.client)
    }
    await #expect(throws: Problem(.notFound, "no batch b")) {
      try await waiter(.batch("b"), daemon).run(from: daemon.client)
    }
    #expect(try await waiter(.all, daemon).run(from: daemon.client) == .done)
  }

  @Test("jobs that join in the meantime are waited for too", .timeLimit(.minutes(5)))
  func joining() async throws {
    let daemon = ScriptedDaemon { _, path, count in
      if path == "/v1/stats" { return try ScriptedDaemon.stats(lastEvent: 1) }
      if path.hasPrefix("/v1/events") {
        let events = [
          sampleEvent(2, 2, .added, to: .queued), sampleEvent(3, 1, to: .completed),
          sampleEvent(4, 2, to: .failed),
        ]
        return (200, try events.map(serverSentEvent).joined() + "…")
      }
      if path.hasPrefix("/v1/jobs?ids=2&") { return try ScriptedDaemon.page([sampleJob(2, .queued)]) }
      return try ScriptedDaemon.page(
        count == 0 ? [sampleJob(1)] : [sampleJob(1, .completed), sampleJob(2, .failed)])
    }
    #expect(try await waiter(.all, daemon).run(from: daemon.client) == .failed)
  }
}
