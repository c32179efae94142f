import Foundation
import TestSupport
import Testing

@Suite("retries and outages", .timeLimit(.minutes(5))) struct OutageTests {
  @Test(
    "a refused connection and an unknown host are transient: the job retries, then fails by --retries"
  )
  func offline() async throws {
    // Regression: the second attempt after a failed lookup crashed the daemon: libcurl refused an option of the handle.
    let daemon = try await Daemon()
    for (url, code) in [("http://127.0.0.1:9/x", "connect"), ("http://host.invalid/y", "dns")] {
      let id = try await daemon.add(url)
      let failing = try await daemon.finished(daemon.add(url, "--retries", "1", "-o", code))
      #expect(failing.state == "failed" && failing.attempt == 2 && failing.maxAttempts == 2)
      #expect(
        failing.error?.code == code && failing.error?.transient == true && failing.error?.httpStatus == nil)
      let job = try await daemon.job(id)
      #expect(["retrying", "running", "queued"].contains(job.state) && job.maxAttempts == 20)
    }
  }

  @Test(
    "503 and 429 are not retried before Retry-After, in seconds or as a date",
    arguments: [
      (503, FileBehaviour.RetryAfter.seconds(2), 2.0), (429, .seconds(2), 2.0),
      (503, .date(inSeconds: 3), 2.0),
    ])
  func retryAfter(_ status: Int, _ after: FileBehaviour.RetryAfter, _ least: Double) async throws {
    let daemon = try await Daemon()
    let timed = try TimedServer(.file(size: 10).failing(status, on: .first(1), retryAfter: after))
    let id = try await daemon.add(timed.server.url("/x"))
    try await timed.server.waitForRequests(1)
    #expect(try await daemon.finished(id).state == "completed")
    #expect(timed.delay(of: 1) >= least, "after \(timed.delay(of: 1)) s")
    #expect(timed.delay(of: 1) < 60)
  }

  @Test("a permanent error is not retried", arguments: [404, 410, 401, 403])
  func final(_ status: Int) async throws {
    let daemon = try await Daemon()
    let server = try LoopbackServer(.file(size: 10).failing(status))
    let job = try await daemon.finished(daemon.add(server.url("/x")))
    #expect(job.state == "failed" && job.error?.code == "http-\(status)" && job.error?.transient == false)
    #expect(server.requests.count == 1 && job.attempt == 1)
    #expect(try daemon.directory.names(in: "downloads").isEmpty, "no part file, no error page")
  }

  @Test("retryAt is shown, and honoured after kill -9")
  func restart() async throws {
    let daemon = try await Daemon()
    let timed = try TimedServer(.file(size: 10).failing(503, on: .first(1), retryAfter: .seconds(8)))
    let id = try await daemon.add(timed.server.url("/x"))
    let events = try daemon.ctlStarted("events", "--follow")
    try await events.waitForOutput("running -> retrying")
    // Unless that time has passed.
    var job = try await daemon.job(id)
    #expect(job.retryAt != nil || timed.delay(of: 1) >= 8)
    try await daemon.restart(by: SIGKILL)
    job = try await daemon.job(id)
    #expect(job.state == "retrying" && job.retryAt != nil && job.attempt == 1 || timed.delay(of: 1) >= 8)
    #expect(try await daemon.finished(id).state == "completed")
    #expect(timed.delay(of: 1) >= 8, "after \(timed.delay(of: 1)) s")
  }

  @Test("Retry-After delays all jobs of its origin, while another origin continues")
  func origin() async throws {
    let daemon = try await Daemon()
    let timed = try TimedServer(.file(size: 10).failing(503, on: .first(1), retryAfter: .seconds(4)))
    let other = try LoopbackServer(.file(size: 10))
    let first = try await daemon.add(timed.server.url("/1"))
    let events = try daemon.ctlStarted("events", "--follow")
    try await events.waitForOutput("running -> retrying")
    let second = try await daemon.add(timed.server.url("/2"))
    #expect(try await daemon.finished(daemon.add(other.url("/3"))).state == "completed")
    #expect(try await daemon.ctl("wait", first, second).status == 0)
    #expect(timed.delay(of: 1) >= 4 && timed.delay(of: 2) >= 4)
  }

  @Test("a due retry of an origin with Retry-After uses no processor time")
  func closedOrigin() async throws {
    let daemon = try await Daemon()
    // The first job fails at once and waits about a second. Then the second job's response closes the origin for all jobs.
    let server = try LoopbackServer(files: [
      "/1": FileBehaviour.file(size: 10).failing(500),
      "/2": FileBehaviour.file(size: 10).failing(503, retryAfter: .seconds(120)),
    ])
    let first = try await daemon.add(server.url("/1"))
    try await daemon.failed(with: "http-500", first)
    let second = try await daemon.add(server.url("/2"))
    try await daemon.failed(with: "http-503", second)
    for number in 3...8 { _ = try await daemon.add(server.url("/\(number)")) }
    // By then the first job's retry has been due for a while.
    #expect(try await daemon.ctl("wait", first, "--timeout", "3").status == 124)
    let before = try daemon.processorTime
    #expect(try await daemon.ctl("wait", first, "--timeout", "4").status == 124)
    let used = try daemon.processorTime - before
    // A busy loop would use a whole core: most of 4 s even on a busy machine.
    #expect(used < .seconds(1), "\(used) in 4 s")
    #expect(server.requests.allSatisfy { ["/1", "/2"].contains($0.path) })
    #expect(try await daemon.jobs().map(\.state) == ["retrying", "retrying"] + Array(repeating: "queued", count: 6))
  }

  @Test("an explicit retry of a job overrides its origin's Retry-After; a retry of all jobs does not")
  func retriedByHand() async throws {
    let daemon = try await Daemon()
    let server = try LoopbackServer(.file(size: 10).failing(503, on: .first(1), retryAfter: .seconds(3600)))
    let first = try await daemon.add(server.url("/1"))
    try await daemon.failed(with: "http-503", first)
    let second = try await daemon.add(server.url("/2"))
    #expect(try await daemon.ctl("retry", "--all").status == 0)
    #expect(try await daemon.ctl("wait", first, second, "--timeout", "1").status == 124)
    #expect(server.requests.count == 1)
    #expect(try await daemon.ctl("retry", first).status == 0)
    #expect(try await daemon.ctl("wait", first, second, "--timeout", "120").status == 0)
  }

  @Test("a job fails after twenty consecutive attempts without progress, with the last reason and no further request")
  func exhausted() async throws {
    let daemon = try await Daemon()
    // The server requests early retries. Otherwise the twentieth attempt comes after half an hour.
    let server = try LoopbackServer(.file(size: 10).failing(503, retryAfter: .seconds(1)))
    let job = try await daemon.finished(daemon.add(server.url("/x")), timeout: .seconds(110))
    #expect(job.state == "failed" && job.attempt == 20 && job.maxAttempts == 20, "\(job)")
    #expect(job.error?.code == "http-503" && job.error?.transient == true)
    #expect(server.requests.count == 20)
    #expect(try daemon.directory.names(in: "downloads").isEmpty)
    // An explicit retry resets the count.
    let few = try await daemon.finished(daemon.add(server.url("/y"), "--retries", "2"))
    #expect(few.state == "failed" && few.attempt == 3)
    #expect(try await daemon.ctl("retry", "\(few.id)").status == 0)
    #expect(try await daemon.finished("\(few.id)").attempt == 3)
    #expect(server.requests.count == 20 + 3 + 3)
  }

  @Test("progress resets the count: twenty-five dropped connections do not fail a growing download")
  func progress() async throws {
    let payload = Payload(size: 2_600_000, seed: 8)
    let file = FileBehaviour.file(payload)
    let server = try LoopbackServer(file.dropping(after: 100_000, on: .first(25)))
    let daemon = try await Daemon()
    let id = try await daemon.add(server.url("/x"), "-o", "x", "--retries", "2")
    let job = try await daemon.finished(id, timeout: .seconds(110))
    #expect(job.state == "completed", "\(job)")
    #expect(try sha256(ofFile: daemon.downloaded("x")) == payload.sha256)
    #expect(server.requests.count == 26)
  }
}
