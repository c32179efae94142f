import FoundationEssentials
import Store
import Testing
import TransferAPI

@testable import TransferEngine
@testable import transferd

@Suite struct AttemptVerdictTests {
  /// A claimed job from a real store.
  private func record(_ change: (inout JobSpec) -> Void = { _ in }) async throws -> (Store, JobRecord, String) {
    let directory = "/tmp/transferd-verdict-\(UInt64.random(in: 0 ... .max))"
    let store = try Store(directory: directory, now: Date(), onEvents: { _ in })
    var spec = JobSpec(owner: 0, url: "http://h/x", origin: "http://h:80", destination: "/d/x")
    spec.options.maxAttempts = 3
    change(&spec)
    let id = try await store.submit([spec], in: .everything, at: Date())[0].get().id
    return (store, try await store.claim([id], at: Date())[0], directory)
  }

  private func verdict(
    _ error: TransferError, _ stop: StopReason? = nil, attempt: Int = 1, number: Int? = nil, bytesBefore: Int64 = 0,
    after: Int64 = 0, received: ReceivedBefore = .init(), of change: (inout JobSpec) -> Void = { _ in }
  ) async throws -> AttemptVerdict {
    var (store, record, directory) = try await record(change)
    record.receivedBefore = received
    (record.job.attempt, record.attemptNumber) = (attempt, number ?? attempt)
    record.job.bytesDone = bytesBefore
    var response = FileResponse(failing: error)
    response.bytesOnDisk = after
    response.resumedFrom = bytesBefore
    if after > 0 {
      response.resumeData = ResumeData(
        url: "http://h/x", validators: Validators(etag: "\"a\""), totalBytes: 100,
        partialFile: .init(
          directory: "/d", name: ".x.part", identity: .init(device: 1, inode: 2), finalName: "x"),
        checkpointBytes: after, bootID: "b")
    }
    var generator = SystemRandomNumberGenerator()
    let verdict = AttemptVerdict(response, of: record, stop: stop, now: Date(), using: &generator)
    await store.close()
    try? FileManager.default.removeItem(atPath: directory)
    return verdict
  }

  @Test("transient errors are retried, up to the limit")
  func transient() async throws {
    let error = TransferError.connection(.refused(host: "h", reason: "refused"))
    #expect(try await verdict(error, attempt: 2).settlement.event == .postpone)
    let last = try await verdict(error, attempt: 3)
    #expect(last.settlement.event == .fail)
    #expect(last.settlement.failure?.code == .connect)
  }

  @Test("a transfer whose window has closed is queued again, keeps its bytes and costs no attempt")
  func window() async throws {
    let stopped = try await verdict(.cancelled, .window, attempt: 2, after: 50) {
      $0.options.schedule.window = try? DailyWindow(parsing: "22:00-06:00")
    }.settlement
    #expect(stopped.event == .requeue && stopped.isUncounted && stopped.bytesDone == 50)
    #expect(stopped.reason == "its window 22:00-06:00 has closed" && stopped.failure == nil)
    let preempted = try await verdict(.cancelled, .preemption, attempt: 2, after: 50).settlement
    #expect(preempted.event == .requeue && preempted.isUncounted && preempted.bytesDone == 50)
    #expect(preempted.reason == "a job with a higher priority took its slot")
    // It ended by itself before it was stopped.
    let failed = try await verdict(.connection(.refused(host: "h", reason: "refused")), .window).settlement
    #expect(failed.event == .postpone && !failed.isUncounted)
  }

  @Test("a status of --retry-status is retried as well, up to the limit")
  func retryStatus() async throws {
    let error = TransferError.response(.unacceptableStatus(404, retryAfter: nil))
    func verdict(_ attempt: Int) async throws -> Settlement {
      try await self.verdict(error, attempt: attempt) { $0.options.network.retryStatus = [423, 404] }.settlement
    }
    let first = try await verdict(1)
    #expect(first.event == .postpone && first.failure?.transient == true && first.failure?.code == .http(404))
    #expect(try await verdict(3).event == .fail)
    #expect(try await self.verdict(error).settlement.event == .fail)
  }

  @Test("progress resets the count of attempts")
  func progress() async throws {
    let error = TransferError.connection(.stalled)
    let verdict = try await verdict(error, attempt: 3, bytesBefore: 10, after: 20)
    #expect(verdict.settlement.event == .postpone)
    #expect(verdict.settlement.resetAttempts)
    // The same bytes again are not progress.
    #expect(try await self.verdict(error, attempt: 3, bytesBefore: 20, after: 20).settlement.event == .fail)
  }

  @Test("bytes of a job that has none are progress, but not again after it has lost some")
  func regainedBytes() async throws {
    let error = TransferError.connection(.stalled)
    let first = try await verdict(error, attempt: 3, after: 20)
    #expect(first.settlement.resetAttempts && first.settlement.event == .postpone)
    let again = try await verdict(error, attempt: 3, number: 5, after: 20, received: .init(attempts: 1, beginnings: 1))
    #expect(!again.settlement.resetAttempts && again.settlement.event == .fail)
    // Attempts that were not counted, such as those of a full disk, have brought nothing.
    let uncounted = try await verdict(error, attempt: 3, number: 5, after: 20)
    #expect(uncounted.settlement.resetAttempts && uncounted.settlement.event == .postpone)
  }

  @Test("more bytes are no progress after many beginnings from byte 0, and the error says so")
  func manyBeginnings() async throws {
    let error = TransferError.response(.truncated(received: 20, expected: 100))
    let limit = JobRecord.maximumBeginnings
    func settlement(attempt: Int, beginnings: Int) async throws -> Settlement {
      try await verdict(
        error, attempt: attempt, number: 90, bytesBefore: 10, after: 20,
        received: .init(attempts: 80, beginnings: beginnings)
      ).settlement
    }
    // An unreliable connection to a file that does not change: it begins once.
    let progress = try await settlement(attempt: 3, beginnings: limit - 1)
    #expect(progress.resetAttempts && progress.event == .postpone)
    let waits = try await settlement(attempt: 2, beginnings: limit)
    #expect(!waits.resetAttempts && waits.event == .postpone && waits.failure?.message.contains("anew") == false)
    let fails = try await settlement(attempt: 3, beginnings: limit)
    #expect(fails.event == .fail && fails.failure?.code == .truncated)
    let words = "had to begin anew: the file changed each time, or its transfer cannot be resumed"
    #expect(fails.failure?.message.hasSuffix("; 20 of the last attempts \(words)") == true)
    #expect(fails.attempt.error == fails.failure && fails.reason == fails.failure?.message)
  }

  @Test(
    "permanent errors are not retried",
    arguments: [
      TransferError.response(.unacceptableStatus(404, retryAfter: nil)),
      .response(.unacceptableStatus(401, retryAfter: nil)), .response(.unacceptableStatus(403, retryAfter: nil)),
      .response(.unacceptableStatus(410, retryAfter: nil)),
      .verification(.digest(algorithm: "md5", expected: "a", actual: "b")), .file(.destinationExists("/d/x")),
      .redirect(.tooMany(limit: 20)),
    ])
  func permanent(_ error: TransferError) async throws {
    #expect(try await verdict(error).settlement.event == .fail)
  }

  @Test("a full disk is retried without limit")
  func diskFull() async throws {
    let verdict = try await verdict(.file(.diskFull("full")), attempt: 500)
    #expect(verdict.settlement.event == .postpone)
    #expect(verdict.settlement.failure?.code == .diskFull)
    #expect(verdict.settlement.isUncounted)
    #expect((Duration.seconds(1)...(.seconds(2))).contains(verdict.settlement.retryDelay))
    #expect(try await !self.verdict(.connection(.stalled), attempt: 1).settlement.isUncounted)
  }

  @Test("Retry-After sets the delay")
  func retryAfter() async throws {
    let verdict = try await verdict(.response(.unacceptableStatus(503, retryAfter: .seconds(100))))
    #expect(verdict.settlement.retryDelay >= .seconds(100))
  }

  @Test("a pause keeps the bytes, a cancel discards them, and an earlier failure stays a failure")
  func stops() async throws {
    let paused = try await verdict(.cancelled, .pause, after: 50)
    #expect(paused.settlement.event == .pause)
    #expect(paused.settlement.bytesDone == 50)
    #expect(!paused.removesPartFile)
    let cancelled = try await verdict(.cancelled, .cancel, after: 50)
    #expect(cancelled.settlement.event == .cancel)
    #expect(cancelled.settlement.bytesDone == 0)
    #expect(cancelled.removesPartFile)
    #expect(try await verdict(.cancelled, .shutdown, after: 50).settlement.event == .requeue)
    let failed = try await verdict(.response(.unacceptableStatus(404, retryAfter: nil)), .pause)
    #expect(failed.settlement.event == .fail)
  }
}
