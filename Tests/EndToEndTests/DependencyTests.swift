import Foundation
import Glibc
import TestSupport
import Testing

/// Jobs that begin after others.
@Suite("jobs after other jobs", .timeLimit(.minutes(5))) struct DependencyTests {
  private static func waiting(_ daemon: Daemon, _ id: String) async throws -> [String: Any]? {
    try await daemon.curl("/v1/jobs/\(id)").json["waiting"] as? [String: Any]
  }

  @Test("a job begins after a job and a batch, also if the daemon is killed meanwhile")
  func begins() async throws {
    let (reached, proceed) = (Gate(), Gate())
    let server = try LoopbackServer(files: [
      "/first": FileBehaviour.file(size: 10).holding(after: 5, reached: reached, until: proceed),
      "/member": .file(size: 10), "/last": .file(size: 10), "/chained": .file(size: 10),
    ])
    let daemon = try await Daemon()
    func add(_ name: String, _ more: String...) async throws -> String {
      try await daemon.run(["add", server.url("/\(name)"), "-d", daemon.downloads] + more).lines.first ?? ""
    }
    let member = try await add("member", "--batch", "b", "--paused")
    let first = try await add("first")
    let last = try await add("last", "--after", first, "--after", "batch:b")
    let chained = try await add("chained", "--after", last)
    try await reached.wait()
    let waiting = try await Self.waiting(daemon, last)
    #expect(waiting?["reason"] as? String == "after" && waiting?["until"] is NSNull, "\(waiting as Any)")
    let why = try await daemon.ctl("why", last)
    #expect(why.stdout.contains("it begins after job \(first) and 1 more"), "\(why.stdout)")
    #expect(why.stdout.contains("when job \(first), batch b have all completed"), "\(why.stdout)")
    let options = try await daemon.curl("/v1/jobs/\(last)").json["options"] as? [String: Any]
    #expect(
      (options?["after"] as? [Any])?.first as? Int == Int(first)
        && (options?["after"] as? [Any])?.last as? String == "batch:b")
    try await daemon.kill9()
    try await daemon.start()
    proceed.open()
    #expect(try await daemon.ctl("wait", first).status == 0)
    #expect(try await daemon.job(last).state == "queued")
    #expect(try await daemon.ctl("resume", member).status == 0)
    #expect(try await daemon.ctl("wait", last, chained).status == 0)
    let order = server.requests.map(\.path).filter { $0 != "/first" }
    #expect(order == ["/member", "/last", "/chained"])
  }

  @Test("a job fails with what it waits for, and so do those after it; retry looks again")
  func fails() async throws {
    let server = try LoopbackServer(files: ["/last": .file(size: 10), "/first": .file(size: 10)])
    let daemon = try await Daemon()
    let missing = try await daemon.add(server.url("/missing"), "-d", daemon.downloads, "--paused", "--batch", "b")
    let last = try await daemon.add(server.url("/last"), "-d", daemon.downloads, "--after", "batch:b")
    let chained = try await daemon.add(
      server.url("/first"), "-d", daemon.downloads, "--after", last, "--not-before", "+1s")
    #expect(try await daemon.ctl("cancel", missing).status == 0)
    #expect(try await daemon.ctl("wait", last, chained).status == 1)
    for id in [last, chained] {
      let job = try await daemon.job(id)
      #expect(job.state == "failed" && job.error?.code == "dependency" && job.error?.transient == false)
    }
    #expect(try await daemon.ctl("why", last).stdout.contains("job \(missing) of batch b"))
    #expect(try await daemon.ctl("retry", last).status == 0)
    #expect(try await daemon.ctl("wait", last).status == 1)
    // Without the cancelled job nothing in the batch is unfinished.
    #expect(try await daemon.ctl("remove", missing).status == 0)
    #expect(try await daemon.ctl("retry", last, chained).status == 0)
    #expect(try await daemon.ctl("wait", last, chained).status == 0)
    #expect(server.requests.map(\.path) == ["/last", "/first"])
    // A removed job does not come back.
    let doomed = try await daemon.add(server.url("/x"), "-d", daemon.downloads, "--paused")
    let orphan = try await daemon.add(server.url("/y"), "-d", daemon.downloads, "--after", doomed)
    #expect(try await daemon.ctl("remove", doomed).status == 0)
    #expect(try await daemon.ctl("wait", orphan).status == 1)
    #expect(
      try await daemon.job(orphan).error?.message.contains("job \(doomed), for which it waited, was removed") == true)
  }

  @Test("an unknown job or batch is exit status 4, a cycle 64, and no job exists then")
  func mistakes() async throws {
    let daemon = try await Daemon()
    let url = "http://127.0.0.1:9/a"
    let first = try await daemon.add(url, "-d", daemon.downloads, "--paused", "--batch", "a")
    let second = try await daemon.add(url + "2", "-d", daemon.downloads, "--paused", "--after", "batch:a")
    for (after, batch, status, words) in [
      ("99", "x", 4, "no job 99"), ("batch:z", "x", 4, "no batch \"z\""),
      ("batch:x", "x", 64, "--after names the job's own batch"),
      (second, "a", 64, "neither would ever begin"), ("0", "x", 64, "neither the id"), ("batch:", "x", 64, "after"),
      ("-1", "x", 64, "after"),
    ] as [(String, String, Int32, String)] {
      let result = try await daemon.run(
        ["add", url + "3", "-d", daemon.downloads, "--batch", batch, "--after=\(after)"])
      #expect(result.status == status && result.stderr.contains(words), "\(after): \(result.status) \(result.stderr)")
    }
    let many = try await daemon.run(
      ["add", url + "3", "-d", daemon.downloads] + (1...65).flatMap { ["--after", "\($0)"] })
    #expect(many.status == 64 && many.stderr.contains("more than 64"))
    let answer = try await daemon.curl("/v1/jobs", "-d", #"{"source":"http://h/a","directory":"/tmp","after":[99]}"#)
    #expect(answer.status == 404 && answer.code == "not-found")
    #expect(try await daemon.jobs().count == 2)
    let exported = try await daemon.ctl("export", "--all")
    let file = daemon.directory.path("jobs.jsonl")
    try exported.stdout.write(toFile: file, atomically: true, encoding: .utf8)
    #expect(exported.stdout.contains(#""after":["batch:a"]"#))
    _ = first
    let third = try await daemon.add(url + "4", "-d", daemon.downloads, "--paused", "--after", second)
    let one = try await daemon.ctl("export", third)
    try one.stdout.write(toFile: file, atomically: true, encoding: .utf8)
    let imported = try await daemon.ctl("import", file)
    #expect(imported.status == 64 && imported.stderr.contains("waits for job \(second)"), "\(imported.stderr)")
  }
}
