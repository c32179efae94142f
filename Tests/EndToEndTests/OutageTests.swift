import Foundation
import TestSupport
import Testing

@Suite("retries and outages", .serialized, .timeLimit(.minutes(5))) struct OutageTests {
  @Test(
    "a refused connection and a name that does not resolve may pass: the job retries, then fails by --retries"
  )
  func offline() async throws {
    // The second try after a failed look-up once ended the daemon: libcurl refused an option of the reused handle.
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
    "503 and 429 with Retry-After, in seconds or as a date, are asked again no earlier",
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

  @Test("what will not pass is not tried again", arguments: [404, 410, 401, 403])
  func final(_ status: Int) async throws {
    let daemon = try await Daemon()
    let server = try LoopbackServer(.file(size: 10).failing(status))
    let job = try await daemon.finished(daemon.add(server.url("/x")))
    #expect(job.state == "failed" && job.error?.code == "http-\(status)" && job.error?.transient == false)
    #expect(server.requests.count == 1 && job.attempt == 1)
    #expect(try daemon.directory.names(in: "downloads").isEmpty, "no part file, no error page")
  }

  @Test("retryAt is told, and honoured after kill -9")
  func restart() async throws {
    let daemon = try await Daemon()
    let timed = try TimedServer(.file(size: 10).failing(503, on: .first(1), retryAfter: .seconds(8)))
    let id = try await daemon.add(timed.server.url("/x"))
    let events = try daemon.ctlStarted("events", "--follow")
    try await events.waitForOutput("running -> retrying")
    // Unless the time is over by now.
    var job = try await daemon.job(id)
    #expect(job.retryAt != nil || timed.delay(of: 1) >= 8)
    try await daemon.restart(by: SIGKILL)
    job = try await daemon.job(id)
    #expect(job.state == "retrying" && job.retryAt != nil && job.attempt == 1 || timed.delay(of: 1) >= 8)
    #expect(try await daemon.finished(id).state == "completed")
    #expect(timed.delay(of: 1) >= 8, "after \(timed.delay(of: 1)) s")
  }

  @Test("Retry-After holds all jobs of its origin, while another origin goes on")
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

  @Test("a due retry of a server that asked to be left alone costs no processor time")
  func closedOrigin() async throws {
    let daemon = try await Daemon()
    // The first job fails at once, and waits about a second. Then the second one's answer closes the origin for all.
    let server = try LoopbackServer(files: [
      "/1": FileBehaviour.file(size: 10).failing(500),
      "/2": FileBehaviour.file(size: 10).failing(503, retryAfter: .seconds(120)),
    ])
    let first = try await daemon.add(server.url("/1"))
    try await daemon.failed(with: "http-500", first)
    let second = try await daemon.add(server.url("/2"))
    try await daemon.failed(with: "http-503", second)
    for number in 3...8 { _ = try await daemon.add(server.url("/\(number)")) }
    // By then the first one has been due for a while.
    #expect(try await daemon.ctl("wait", first, "--timeout", "3").status == 124)
    let before = try daemon.processorTime
    #expect(try await daemon.ctl("wait", first, "--timeout", "4").status == 124)
    let used = try daemon.processorTime - before
    // A look that follows the last one at once takes all of a core: most of 4 s even on a busy machine.
    #expect(used < .seconds(1), "\(used) in 4 s")
    #expect(server.requests.allSatisfy { ["/1", "/2"].contains($0.path) })
    #expect(try await daemon.jobs().map(\.state) == ["retrying", "retrying"] + Array(repeating: "queued", count: 6))
  }

  @Test("who names a job to be tried now is not made to wait for its server's wish; who means all of them is")
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

  @Test("after twenty tries in a row without progress a job fails, with the last reason; no further request is made")
  func exhausted() async throws {
    let daemon = try await Daemon()
    // Tried again at once: the server says so. Otherwise the twentieth try comes after half an hour.
    let server = try LoopbackServer(.file(size: 10).failing(503, retryAfter: .seconds(0)))
    let job = try await daemon.finished(daemon.add(server.url("/x")))
    #expect(job.state == "failed" && job.attempt == 20 && job.maxAttempts == 20, "\(job)")
    #expect(job.error?.code == "http-503" && job.error?.transient == true)
    #expect(server.requests.count == 20)
    #expect(try daemon.directory.names(in: "downloads").isEmpty)
    // By hand they are counted anew.
    #expect(try await daemon.ctl("retry", "\(job.id)").status == 0)
    #expect(try await daemon.finished("\(job.id)").attempt == 20)
    #expect(server.requests.count == 40)
  }

  @Test("progress starts the count anew: twenty-five cuts in a row do not fail a download that grows")
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
