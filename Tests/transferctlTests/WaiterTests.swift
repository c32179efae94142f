import FoundationEssentials
import TestSupport
import Testing
import TransferAPI

@testable import transferctl

@Suite struct JobTrackerTests {
  @Test("the sums follow each change")
  func sums() {
    var tracker = JobTracker()
    tracker.read(sampleJob(1, .queued))
    tracker.read(sampleJob(2, .running, done: 5, total: 10, rate: 3))
    #expect(tracker.unfinished == 2)
    #expect(tracker.bytes.total == nil)
    #expect(tracker.bytesPerSecond == 3)
    tracker.apply(Progress(job: JobID(2), bytesDone: 8, bytesTotal: 10, bytesPerSecond: 4))
    #expect(tracker.bytes.done == 8)
    tracker.remove(JobID(1))
    #expect(tracker.bytes.total == 10)
    #expect(tracker.apply(sampleEvent(1, 2, to: .completed)) == .completed)
    #expect(tracker.isSettled)
    #expect(tracker.counts[.completed] == 1)
    #expect(tracker.running.isEmpty)
    #expect(tracker.bytes.done == 10)
  }

  @Test("late progress does not make an ended job running again")
  func lateProgress() {
    var tracker = JobTracker()
    tracker.read(sampleJob(1, .paused, done: 5, total: 10))
    tracker.apply(Progress(job: JobID(1), bytesDone: 9, bytesTotal: 10, bytesPerSecond: 4))
    tracker.apply(Progress(job: JobID(7), bytesDone: 9, bytesTotal: 10, bytesPerSecond: 4))
    #expect(tracker.bytes.done == 5)
    #expect(tracker.entries.count == 1)
  }

  @Test("each job that did not complete is a failure with a reason")
  func failures() {
    var tracker = JobTracker()
    let error = JobFailure(code: .http(404), message: "no such file", httpStatus: 404, transient: false)
    tracker.read(sampleJob(4, .failed, error: error))
    tracker.read(sampleJob(3, .cancelled))
    tracker.read(sampleJob(2, .completed))
    tracker.read(sampleJob(1, .queued))
    tracker.remove(JobID(1))
    #expect(
      tracker.failures.map(\.words) == [
        "job 1 was removed", "job 3 was cancelled", "job 4 failed: no such file (http-404)",
      ])
  }

  @Test("sizes that servers claim do not overflow the sums")
  func overflow() {
    var tracker = JobTracker()
    tracker.read(sampleJob(1, done: .max, total: .max))
    tracker.read(sampleJob(2, done: .max, total: .max))
    tracker.remove(JobID(1))
    #expect(tracker.bytes.total == .max)
  }
}

@Suite struct WaiterTests {
  private func waiter(_ target: WaitTarget, _ daemon: ScriptedDaemon) throws -> Waiter {
    let display = ProgressDisplay(Terminal(-1, environment: [:]), write: { _ in })
    return Waiter(target, connection: try daemon.connection(), display: display)
  }

  /// Regression: `add --wait` printed nothing if a small file was complete before the wait began.
  @Test("a job that was just added is printed even if it has already ended", arguments: [true, false])
  func announced(announcesEnded: Bool) async throws {
    let daemon = ScriptedDaemon { _, path, _ in
      path == "/v1/stats"
        ? try ScriptedDaemon.stats(lastEvent: 9)
        : try ScriptedDaemon.page([sampleJob(1, .completed), sampleJob(2, .failed)])
    }
    let words = Watched<[String]>([])
    let display = ProgressDisplay(Terminal(-1, environment: [:]), write: { text in words.mutate { $0.append(text) } })
    let waiter = Waiter(
      .ids([JobID(1), JobID(2)]), connection: try daemon.connection(), announcesEnded: announcesEnded, display: display)
    #expect(try await waiter.run(from: daemon.client) == .failed)
    #expect(words.value.map { $0.hasPrefix("job 1 completed") } == (announcesEnded ? [true, false] : []))
    #expect(words.value.count(where: { $0.hasPrefix("job 2 failed") }) == (announcesEnded ? 1 : 0))
  }

  @Test("jobs that have ended need no event stream")
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
    "the newest event's number is read before the jobs, and the stream begins after it", .timeLimit(.minutes(5)))
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
        "GET /v1/stats", "GET /v1/jobs?ids=1&limit=500", "GET /v1/events?since=41&jobs=1&progress=true&every=5",
        // One request for the size and name of the ended job, one to make sure that all have ended.
        "GET /v1/jobs?ids=1&limit=500", "GET /v1/jobs?ids=1&limit=500",
      ])
  }

  /// The job was retried between the two requests; the stream repeats its earlier failure.
  @Test("a repeated old failure does not end the wait", .timeLimit(.minutes(5)))
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

  @Test("the wait ends with 124 at the timeout", .timeLimit(.minutes(5)))
  func timeout() async throws {
    let daemon = ScriptedDaemon { _, path, _ in
      if path == "/v1/stats" { return try ScriptedDaemon.stats(lastEvent: 1) }
      if path.hasPrefix("/v1/events") { return (200, "…") }
      return try ScriptedDaemon.page([sampleJob(1, .queued)])
    }
    let end = try await waiter(.all, daemon).run(from: daemon.client, timeout: .milliseconds(50))
    #expect(end == .timedOut)
  }

  @Test("unknown ids and batches end with 4; an empty selection ends with 0")
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

  @Test("jobs that are added meanwhile are waited for too", .timeLimit(.minutes(5)))
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
