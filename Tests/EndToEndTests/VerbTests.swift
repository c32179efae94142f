import Foundation
import TestSupport
import Testing

@Suite("pause, resume, cancel, retry, remove", .timeLimit(.minutes(5))) struct VerbTests {
  @Test("each selector selects its jobs, with a message on standard error only")
  func selectors() async throws {
    let daemon = try await Daemon()
    for name in ["a", "b", "c", "d"] {
      _ = try await daemon.addPaused(name, "--batch", name < "c" ? "one" : "two")
    }
    let first = try await daemon.ctl("cancel", "1")
    #expect(first.status == 0 && first.stdout == "" && first.stderr != "")
    #expect(try await daemon.ctl("cancel", "--batch", "two").status == 0)
    #expect(try await daemon.jobs().map(\.state) == ["cancelled", "paused", "cancelled", "cancelled"])
    #expect(try await daemon.ctl("remove", "--state", "cancelled").status == 0)
    #expect(try await daemon.jobs().map(\.id) == [2])
    #expect(try await daemon.ctl("remove", "--all").status == 0)
    #expect(try await daemon.jobs().isEmpty)
  }

  @Test(
    "all jobs are stopped at once: waiting jobs do not start in place of running ones",
    arguments: ["pause", "cancel", "remove"], ["--all", "--batch", "ids"])
  func many(_ verb: String, _ way: String) async throws {
    let server = try LoopbackServer(.file(size: 1000).stalling(after: 10, on: .always))
    let daemon = try await Daemon("--max-active", "3", "--max-per-origin", "3")
    let list = (0..<9).map { server.url("/\($0)\n") }.joined()
    let ids = try await daemon.run(["add", "-i", "-", "--batch", "b"], input: Data(list.utf8)).lines
    try await server.waitForRequests(3)
    let selection = way == "ids" ? ids : way == "--batch" ? ["--batch", "b"] : ["--all"]
    let result = try await daemon.run([verb] + selection)
    #expect(result.status == 0 && result.stderr.contains(" 9 jobs"), "\(result.stderr)")
    #expect(!result.stderr.contains("skipped"), "\(result.stderr)")
    #expect(server.requests.count == 3)
    let states = try await daemon.jobs().map(\.state)
    #expect(states == (verb == "remove" ? [] : Array(repeating: verb == "pause" ? "paused" : "cancelled", count: 9)))
    let begun = try await daemon.run(["events", "--format", "json"]).lines.count { $0.contains("\"to\":\"running\"") }
    #expect(verb == "remove" || begun == 3)
  }

  @Test("a missing job is 4, no matching job 0, a wrong state 6, two selectors 64")
  func exitCodes() async throws {
    let daemon = try await Daemon()
    let server = try LoopbackServer(.file(size: 10))
    let done = try await daemon.add(server.url("/x"))
    _ = try await daemon.finished(done)
    let paused = try await daemon.addPaused("p")
    for verb in ["pause", "resume", "cancel", "retry"] {
      #expect(try await daemon.ctl(verb, done).status == 6, "\(verb)")
      #expect(try await daemon.ctl(verb, "99").status == 4, "\(verb)")
      #expect(try await daemon.ctl(verb, "--batch", "none").status == 4, "\(verb)")
      #expect(try await daemon.ctl(verb, "--state", "running").status == 0, "\(verb)")
      #expect(try await daemon.ctl(verb).status == 64, "\(verb)")
      #expect(try await daemon.ctl(verb, done, "--all").status == 64, "\(verb)")
      #expect(try await daemon.ctl(verb, "x").status == 64, "\(verb)")
    }
    #expect(try await daemon.ctl("retry", paused).status == 6)
    #expect(try await daemon.ctl("pause", paused).status == 0)
    #expect(try await daemon.ctl("remove", "99").status == 4)
    #expect(try await daemon.job(done).state == "completed")
    #expect(try await daemon.job(paused).state == "paused")
  }

  @Test("cancel and remove leave no part file; remove leaves a completed file")
  func files() async throws {
    let daemon = try await Daemon()
    let reached = [Gate(), Gate()]
    let server = try LoopbackServer(files: [
      "/0": .file(size: 1000).holding(after: 500, reached: reached[0], until: Gate(), on: .always),
      "/1": .file(size: 1000).holding(after: 500, reached: reached[1], until: Gate(), on: .always),
      "/done": .file(size: 10),
    ])
    for name in ["0", "1"] { _ = try await daemon.add(server.url("/" + name)) }
    for gate in reached { try await gate.wait() }
    _ = try await daemon.finished(daemon.add(server.url("/done")))
    #expect(try await daemon.ctl("cancel", "1").status == 0)
    #expect(try await daemon.ctl("remove", "2", "3").status == 0)
    #expect(try daemon.directory.names(in: "downloads") == ["done"])
    #expect(try await daemon.jobs().map(\.state) == ["cancelled"])
    #expect(try await daemon.ctl("show", "2").status == 4)
  }

  @Test("set changes priority, limit and a failed job's URL, and its bytes are kept")
  func set() async throws {
    let daemon = try await Daemon()
    let payload = Payload(size: 300_000)
    let signed = try LoopbackServer(
      .file(payload).dropping(after: 200_000).failing(403, on: .after(1)))
    let fresh = try LoopbackServer(.file(payload))
    let id = try await daemon.add(signed.url("/x?sig=old"))
    let failed = try await daemon.finished(id)
    #expect(failed.error?.code == "http-403" && failed.bytesDone > 0)
    #expect(try await daemon.ctl("set", id, "--url", fresh.url("/x?sig=new"), "--priority", "9").status == 0)
    #expect(try await daemon.ctl("retry", id).status == 0)
    let job = try await daemon.finished(id)
    #expect(job.state == "completed" && job.priority == 9)
    #expect(try sha256(ofFile: daemon.downloads + "/x") == payload.sha256)
    #expect(fresh.requests.first?.range != nil, "the bytes were kept, so only the rest is requested")

    let other = try await daemon.addPaused("y")
    #expect(try await daemon.ctl("set", other, "--limit-rate", "10K").status == 0)
    #expect(try await daemon.ctl("show", other, "--format", "json").stdout.contains(#""limitRate":10240"#))
    #expect(try await daemon.ctl("set", other, "--limit-rate", "0").status == 0)
    #expect(try await daemon.ctl("set", id, "--url", fresh.url("/z")).status == 6)
    #expect(try await daemon.ctl("set", "99", "--priority", "1").status == 4)
    for arguments in [
      [other], [], [other, "--url", "gopher://x/"], [other, id, "--url", fresh.url("/z")],
      [other, "--priority", "9999"], [other, "--url", fresh.url("/" + String(repeating: "x", count: 40_000))],
    ] {
      #expect(try await daemon.run(["set"] + arguments).status == 64, "\(arguments)")
    }
  }

  @Test("batches are listed with their counts and shown")
  func batches() async throws {
    let daemon = try await Daemon()
    #expect(try await daemon.ctl("batch", "ls", "--format", "json").stdout == "[]\n")
    _ = try await daemon.addPaused("a", "--batch", "nightly run/é")
    _ = try await daemon.addPaused("b", "--batch", "nightly run/é")
    #expect(try await daemon.ctl("batch", "ls").stdout.contains("nightly run/é"))
    #expect(try await daemon.ctl("batch", "show", "nightly run/é").stdout.contains("2"))
    #expect(try await daemon.ctl("batch", "show", "none").status == 4)
    #expect(try await daemon.ctl("pause", "--batch", "nightly run/é").status == 0)
    #expect(try await daemon.ctl("wait", "--batch", "nightly run/é", "--timeout", "1").status == 124)
  }

  @Test("a URL of another server drops headers with secrets; the command and the history report it")
  func secretsOfAnotherServer() async throws {
    let daemon = try await Daemon()
    let (old, new) = (try LoopbackServer(.file(size: 10)), try LoopbackServer(.file(size: 10)))
    let id = try await daemon.add(
      old.url("/a"), "--paused", "--header", "Authorization: Bearer letmein", "--header", "X-Api-Key: k", "--header",
      "X-Plain: 1")
    let same = try await daemon.ctl("set", id, "--url", old.url("/b"))
    #expect(same.status == 0 && !same.stderr.contains("dropped"), "\(same.stderr)")
    let moved = try await daemon.ctl("set", id, "--url", new.url("/b"))
    #expect(
      moved.status == 0 && moved.stderr.contains("dropped the headers Authorization, X-Api-Key"), "\(moved.stderr)")
    #expect(try await daemon.ctl("events", id).stdout.contains("dropped the headers Authorization, X-Api-Key"))
    try await daemon.ctl("resume", id)
    #expect(try await daemon.finished(id).state == "completed")
    let request = try #require(new.requests.first)
    // Regression: they were sent to the new server.
    #expect(request.headers["Authorization"] == nil && request.headers["X-Api-Key"] == nil)
    #expect(request.headers["X-Plain"] == "1")
    let answer = try await daemon.curl(
      "/v1/jobs", "-d",
      #"{"url":"\#(old.url("/c"))","destination":"\#(daemon.downloads)/c","paused":true,"headers":{"Cookie":"c"}}"#)
    let patched = try await daemon.curl(
      "/v1/jobs/\(answer.json["id"] as? Int ?? 0)", "-X", "PATCH", "-d", #"{"url":"\#(new.url("/c"))"}"#)
    #expect(patched.json["droppedHeaders"] as? [String] == ["Cookie"] && patched.json["state"] as? String == "paused")
    // Regression: the change was refused, because SFTP has no header fields.
    let other = try await daemon.add(old.url("/d"), "-o", "d", "--paused", "--header", "X-Plain: 1")
    let remote = try await daemon.ctl("set", other, "--url", "sftp://127.0.0.1:9/d")
    #expect(remote.status == 0 && remote.stderr.contains("dropped the headers X-Plain"), "\(remote.stderr)")
  }

  @Test("import adds the unfinished jobs of an export, paused ones paused, without secrets")
  func exportImport() async throws {
    let old = try await Daemon()
    let server = try LoopbackServer(.file(size: 10))
    _ = try await old.finished(old.add(server.url("/done")))
    _ = try await old.add(
      "http://user:hunter2@127.0.0.1:9/p", "--paused", "--priority", "4", "--batch", "b",
      "--header", "Authorization: Bearer letmein", "--header", "X-Plain: 1", "--retries", "3")
    let export = try await old.ctl("export")
    #expect(export.status == 0 && export.lines.count == 2)
    for secret in ["hunter2", "letmein"] { #expect(!export.stdout.contains(secret)) }
    let new = try await Daemon()
    let imported = try await new.run(["import", "-"], input: export.output)
    #expect(imported.status == 0 && imported.stdout == "1\n", "\(imported.stderr)")
    let job = try await new.job("1")
    #expect(job.state == "paused" && job.priority == 4 && job.batch == "b" && job.maxAttempts == 4)
    #expect(job.destination == old.downloads + "/p")
    #expect(try await old.ctl("export", "--batch", "b").lines.count == 1)
    #expect(try await old.ctl("export", "1").lines.count == 1)
    #expect(try await old.ctl("export", "99").status == 4)
    #expect(try await new.run(["import", "-"], input: Data("{\n".utf8)).stderr.hasPrefix("line 1: "))
  }

  @Test("a line whose URL lacks its secrets is refused with its number, and nothing is added")
  func importWithoutSecrets() async throws {
    let old = try await Daemon()
    _ = try await old.add("http://127.0.0.1:9/a", "--paused")
    _ = try await old.add("http://127.0.0.1:9/b?token=sesame&x=1", "--paused")
    let export = try await old.ctl("export")
    #expect(export.status == 0 && !export.stdout.contains("sesame"))
    let new = try await Daemon()
    // Regression: such a job was added and could only fail.
    let refused = try await new.run(["import", "-"], input: export.output)
    #expect(refused.status == 64 && refused.stdout.isEmpty)
    #expect(refused.stderr.contains("line 2: cannot import a URL without its secrets"), "\(refused.stderr)")
    #expect(try await new.storedIDs().isEmpty)
    let mended = export.stdout.replacingOccurrences(of: "***", with: "sesame")
    #expect(try await new.run(["import", "-"], input: Data(mended.utf8)).lines.count == 2)
  }
}
