import Foundation
import TestSupport
import Testing

@Suite("transferctl add", .timeLimit(.minutes(5))) struct AddTests {
  @Test("standard output has one id per line and nothing else")
  func output() async throws {
    let daemon = try await Daemon()
    let one = try await daemon.ctl("add", "http://127.0.0.1:9/a", "--paused")
    #expect(one.stdout == "1\n" && one.stderr == "" && one.status == 0)
    let more = try await daemon.ctl("add", "http://127.0.0.1:9/b", "http://127.0.0.1:9/c", "--paused")
    #expect(more.stdout == "2\n3\n" && more.status == 0)
    let refused = try await daemon.ctl("add", "gopher://127.0.0.1/b")
    #expect(refused.stdout == "" && refused.stderr != "" && refused.status == 64)
  }

  @Test(
    "a file gets the last segment of the user's URL, decoded and made safe, in the current directory")
  func names() async throws {
    let daemon = try await Daemon()
    let table = [
      ("/plain.iso", "plain.iso"), ("/dir/with%20space.txt?x=1#f", "with space.txt"),
      ("/%C3%A9t%C3%A9", "été"),
      ("/a%2F..%2Fb", "b"),
    ]
    for (target, name) in table {
      let id = try await daemon.add("http://127.0.0.1:9\(target)", "--paused")
      #expect(try await daemon.job(id).destination == daemon.downloads + "/" + name)
    }
    let awkward = [
      "%2e%2e", ".bashrc", "-rf", String(repeating: "n", count: 300), "%00x", "a%0Ab", "x%5C..%5Cy",
    ]
    for target in awkward {
      let result = try await daemon.ctl("add", "http://127.0.0.1:9/\(target)", "--paused")
      guard result.status == 0 else {
        #expect(result.status == 64, "\(target): \(result.stderr)")
        continue
      }
      let path = try await daemon.job(result.lines[0]).destination
      guard path != daemon.downloads + "/" else { continue }
      let name = path.dropFirst(daemon.downloads.count + 1)
      #expect(!name.contains("/") && !name.hasPrefix(".") && !name.hasPrefix("-") && name.utf8.count <= 255)
      #expect(name.unicodeScalars.allSatisfy { $0.value >= 0x20 })
    }
  }

  @Test("the name never comes from a redirect; a URL without a name uses the server's, else download")
  func namesFromElsewhere() async throws {
    let daemon = try await Daemon()
    let file = FileBehaviour.file(size: 10)
    let server = try LoopbackServer(files: [
      "/start": file.redirecting(to: "/evil.sh"), "/evil.sh": file,
      "/": file.contentDisposition("attachment; filename=\"said.txt\""), "/dir/": file,
    ])
    for target in ["/start", "/", "/dir/"] {
      #expect(try await daemon.finished(daemon.add(server.url(target))).state == "completed")
    }
    let id = try await daemon.add(server.url("/"), "-J", "--replace")
    #expect(try await daemon.finished(id).destination == daemon.downloads + "/said.txt")
    #expect(try daemon.directory.names(in: "downloads") == ["download", "said.txt", "start"])
  }

  @Test("-d and -o set the path; one that cannot be created is refused with 73 before a job exists")
  func destinations() async throws {
    let daemon = try await Daemon()
    try daemon.directory.file("downloads/there", text: "mine")
    try daemon.directory.directory("downloads/folder")
    let url = "http://127.0.0.1:9/there"
    let refused = [
      [], ["-o", "folder"], ["-d", "nowhere"], ["-o", "nowhere/x"], ["-d", "there"],
      ["-o", "folder", "--replace"],
      ["-d", "nowhere", "-J"],
    ]
    for arguments in refused {
      let result = try await daemon.run(["add", url] + arguments)
      #expect(result.status == 73 && result.stdout == "" && result.stderr != "", "\(arguments)")
    }
    #expect(try await daemon.ctl("status", "--format", "json").stdout == "[]\n")
    let accepted = [
      (["--replace"], "there"), (["-d", "folder"], "folder/there"), (["-o", "folder/x"], "folder/x"),
      (["-d", "folder", "-o", "y"], "folder/y"), (["-d", "new/deep", "--create-dirs"], "new/deep/there"),
      (["-d", "folder/../folder/.", "-o", "z"], "folder/z"),
    ]
    for (arguments, path) in accepted {
      let result = try await daemon.run(["add", url, "--paused"] + arguments)
      #expect(result.status == 0, "\(arguments): \(result.stderr)")
      let job = try await daemon.job(result.lines.first ?? "0")
      #expect(job.destination == daemon.downloads + "/" + path)
    }
    #expect(!FileManager.default.fileExists(atPath: daemon.downloads + "/new"))
  }

  @Test("--replace keeps the existing file until the new one is complete")
  func replace() async throws {
    let daemon = try await Daemon()
    let path = try daemon.directory.file("downloads/f", text: "old")
    let (reached, proceed) = (Gate(), Gate())
    let payload = Payload(size: 100_000)
    let server = try LoopbackServer(.file(payload).holding(after: 50_000, reached: reached, until: proceed))
    let id = try await daemon.add(server.url("/f"), "--replace")
    try await reached.wait()
    #expect(try String(contentsOfFile: path, encoding: .utf8) == "old")
    proceed.open()
    #expect(try await daemon.finished(id).state == "completed")
    #expect(try sha256(ofFile: path) == payload.sha256)
  }

  @Test("two jobs cannot have one destination: the second is refused with 73")
  func sameDestination() async throws {
    let daemon = try await Daemon()
    _ = try await daemon.addPaused("one", "-o", "same")
    let second = try await daemon.ctl("add", "http://127.0.0.1:9/two", "-o", "same", "--paused")
    #expect(second.status == 73 && second.stdout == "")
    #expect(try await daemon.jobs().count == 1)
  }

  @Test("an unknown option or command is reported before anything else, with the nearest known one")
  func unknownOption() async throws {
    let daemon = try await Daemon()
    let table = [
      (["add", "http://127.0.0.1:9/a", "http://127.0.0.1:9/b", "-o", "x", "--priorty", "4"], "'--priority'"),
      (["upload", "/nonexistent", "--too", "http://127.0.0.1:9/"], "'--to'"),
      (["pause", "1", "--bach", "b", "--all"], "'--batch'"),
      (["daemon", "stauts"], "'status'"), (["ad", "http://127.0.0.1:9/a"], "'add'"),
    ]
    for (arguments, suggestion) in table {
      let result = try await daemon.ctlLaunch(arguments).run(timeout: .seconds(100))
      #expect(result.status == 64 && result.stdout == "", "\(arguments): \(result.stderr)")
      #expect(result.stderr.hasPrefix("transferctl: unknown "), "\(arguments): \(result.stderr)")
      #expect(result.stderr.hasSuffix("did you mean \(suggestion)?\n"), "\(arguments): \(result.stderr)")
    }
    #expect(try await daemon.jobs().isEmpty)
  }

  @Test("wrong arguments exit with 64 and add nothing")
  func usage() async throws {
    let daemon = try await Daemon()
    let url = "http://127.0.0.1:9/x"
    let table: [[String]] = [
      ["add"], ["add", ""], ["add", "x"], ["add", "http://"], ["add", "http://h:99999/"],
      ["add", "http://a b/"],
      ["add", "file:///etc/passwd"], ["add", "gopher://h/"], ["add", "dict://h/"], ["add", "gopher://h/x"],
      ["add", "http://u:p@ss@h/"], ["add", "http://h/a\nb"], ["add", "http://h/a\r\nX: y"],
      ["add", url, "--segments", "33"], ["add", url, "--bogus"],
      ["add", url, "-o", ""], ["add", url, "-o", "../x"], ["add", url, "-o", "a/../../x"],
      ["add", url, "-o", ".."], ["add", url, "-o", "x/"], ["add", url, "-o", String(repeating: "n", count: 300)],
      ["add", url, "-d", ""],
      ["add", url, "-o", "x", "-J"], ["add", url, url + "2", "-o", "x"], ["add", url, "-o", "{size}"],
      ["add", url, "-o", "a{"], ["add", url, "-o", "a}"], ["add", url, "-o", "/a/{name}"],
      ["add", url, "-o", "../{name}"], ["add", "http://127.0.0.1:9/[1-2]", "--glob", "-o", "x"],
      ["add", "http://127.0.0.1:9/[1-2]", "--glob", "--key", "k"], ["add", "http://127.0.0.1:9/[1-", "--glob"],
      ["add", "http://127.0.0.1:9/[1-1000001]", "--glob"], ["add", "x", "--base", "y"],
      ["add", url, "--input-format", "csv"], ["add", url, "--format", "jsonl"],
      ["add", url, "--checksums", "/nonexistent/file"], ["add", url, "--checksums", ""],
      ["add", url, "--checksums", "http://127.0.0.1:9/x", "--dry-run"],
      ["add", url, url + "2", "--key", "k"],
      ["add", url, "--checksum", "sha-256"], ["add", url, "--checksum", "sha-256=12"],
      ["add", url, "--checksum", "crc=00"], ["add", url, "--limit-rate", "0"],
      ["add", url, "--limit-rate=-1"],
      ["add", url, "--limit-rate", "1X"], ["add", url, "--retries", "-1"],
      ["add", url, "--priority", "high"], ["add", url, "--header", "X"], ["add", url, "--header", "Host: x"],
      ["add", url, "--header", "Range: bytes=1-"],
      ["add", url, "--header", "Content-Length: 1"], ["add", url, "--header", "X: a\r\nY: b"],
      ["add", url, "--stall-timeout", "soon"], ["add", url, "--timeout", "1"], ["add", url, "--batch", ""],
      ["add", url, "--key", ""], ["upload", "x"], ["limit", "--down", "fast"], ["limit", "down"],
      ["statuss"], ["add", "-i", "/nonexistent/file"], ["add", "-i", "/dev/null", "-i", "/dev/null"],
    ]
    for arguments in table {
      let result = try await daemon.run(arguments)
      #expect(result.status == 64, "\(arguments): \(result.stderr)")
      #expect(result.stdout == "" && result.stderr != "")
    }
    #expect(try await daemon.jobs().isEmpty)
  }

  @Test("every form of a checksum is accepted, and a mismatch fails the job permanently")
  func checksums() async throws {
    let daemon = try await Daemon()
    let payload = Payload(Data("hello\n".utf8))
    let server = try LoopbackServer(.file(payload))
    let right = [
      "sha-256=5891b5b522d5df086d0ff0b110fbd9d21bb4fc7163af34d08286a2e846f6be03",
      "sha256=5891B5B522D5DF086D0FF0B110FBD9D21BB4FC7163AF34D08286A2E846F6BE03",
      "md5=b1946ac92492d2347c6235b4d2611184", "sha-1=f572d396fae9206628714fb2ce00f72e94f2258f",
    ]
    for (number, checksum) in right.enumerated() {
      let result = try await daemon.ctl("add", server.url("/\(number)"), "--checksum", checksum, "--wait")
      #expect(result.status == 0, "\(checksum): \(result.stderr)")
    }
    let wrong = try await daemon.ctl(
      "add", server.url("/w"), "--checksum", "md5=00000000000000000000000000000000", "--wait")
    #expect(wrong.status == 1)
    let job = try await daemon.job(wrong.lines[0])
    #expect(job.state == "failed" && job.error?.code == "checksum-mismatch" && job.attempt == 1)
    #expect(!FileManager.default.fileExists(atPath: daemon.downloads + "/w"))
  }

  @Test("--header, --batch, --priority, --retries and timeouts reach the job and the server")
  func options() async throws {
    let daemon = try await Daemon()
    let server = try LoopbackServer(.file(size: 10))
    let id = try await daemon.add(
      server.url("/x"), "--header", "X-One: 1", "--header", "User-Agent: mine", "--batch", "b", "--priority",
      "-3",
      "--retries", "4", "--connect-timeout", "5", "--stall-timeout", "2m", "--key", "k")
    let job = try await daemon.finished(id)
    #expect(job.batch == "b" && job.priority == -3 && job.maxAttempts == 5 && job.key == "k")
    let headers = try #require(server.requests.first).headers
    #expect(headers["X-One"] == "1" && headers["User-Agent"] == "mine")
    #expect(try await daemon.job(daemon.addPaused("default")).maxAttempts == 20)
  }

  @Test("a job that is added with --paused waits for resume")
  func paused() async throws {
    let daemon = try await Daemon()
    let server = try LoopbackServer(.file(size: 10))
    let id = try await daemon.add(server.url("/x"), "--paused")
    let other = try await daemon.add(server.url("/y"))
    #expect(try await daemon.finished(other).state == "completed")
    #expect(try await daemon.job(id).state == "paused")
    try await daemon.ctl("resume", id)
    #expect(try await daemon.finished(id).state == "completed")
    #expect(server.requests.map(\.path) == ["/y", "/x"])
  }

  @Test("jobs with higher priority start first, equal ones in their order")
  func priorities() async throws {
    let daemon = try await Daemon("--max-active", "1")
    let (reached, proceed) = (Gate(), Gate())
    let server = try LoopbackServer(.file(size: 10).holding(after: 5, reached: reached, until: proceed))
    _ = try await daemon.add(server.url("/first"))
    try await reached.wait()
    for (name, priority) in [("low", "-1"), ("a", "0"), ("b", "0"), ("high", "7")] {
      _ = try await daemon.add(server.url("/" + name), "--priority", priority)
    }
    proceed.open()
    #expect(try await daemon.ctl("wait", "--all").status == 0)
    #expect(server.requests.map(\.path) == ["/first", "/high", "/a", "/b", "/low"])
  }

  @Test("--limit-rate is kept within 20 %")
  func limitRate() async throws {
    let daemon = try await Daemon()
    let server = try LoopbackServer(.file(size: 2 << 20))
    let style = Date.ISO8601FormatStyle(includingFractionalSeconds: true)
    var fastest = Double.infinity
    // A busy machine makes the download slower, never faster.
    for number in 0..<5 where fastest >= 4 * 1.2 {
      let job = try await daemon.finished(daemon.add(server.url("/x"), "-o", "\(number)", "--limit-rate", "512K"))
      let (start, end) = (try #require(job.startedAt), try #require(job.finishedAt))
      let seconds = try style.parse(end).timeIntervalSince(style.parse(start))
      #expect(job.state == "completed" && seconds > 4 * 0.8, "took \(seconds) s instead of 4")
      fastest = min(fastest, seconds)
    }
    #expect(fastest < 4 * 1.2, "took \(fastest) s instead of 4")
  }
}

@Suite("transferctl add --key", .timeLimit(.minutes(5))) struct AddKeyTests {
  @Test("the same key returns the same job, even though its destination is in use")
  func again() async throws {
    let daemon = try await Daemon()
    let server = try LoopbackServer(.file(size: 10))
    let first = try await daemon.ctl("add", server.url("/x"), "--key", "nightly", "--wait")
    let second = try await daemon.ctl("add", server.url("/x"), "--key", "nightly", "--wait")
    #expect(first.status == 0 && second.status == 0 && first.stdout == second.stdout)
    #expect(server.requests.count == 1)
    #expect(try await daemon.jobs().count == 1)
  }

  @Test("64 simultaneous commands with one key get one id")
  func race() async throws {
    let daemon = try await Daemon()
    let arguments = ["add", "http://127.0.0.1:9/x", "--paused", "--key", "k"]
    let launch = try daemon.ctlLaunch(arguments)
    let outputs = try await withThrowingTaskGroup(of: String.self) { group in
      for _ in 0..<64 { group.addTask { try await launch.run(timeout: .seconds(100)).stdout } }
      return try await group.reduce(into: [String]()) { $0.append($1) }
    }
    #expect(outputs == Array(repeating: "1\n", count: 64))
    #expect(try await daemon.jobs().count == 1)
  }

  @Test("the header Idempotency-Key has the same effect")
  func header() async throws {
    let daemon = try await Daemon()
    let body = #"{"url":"http://127.0.0.1:9/x","destination":"\#(daemon.downloads)/x","paused":true}"#
    let first = try await daemon.curl("/v1/jobs", "-d", body, "-H", "Idempotency-Key: k")
    let second = try await daemon.curl("/v1/jobs", "-d", body, "-H", "Idempotency-Key: k")
    #expect(first.status == 201 && first.head.contains("location: /v1/jobs/1"))
    #expect(second.status == 200 && second.json["id"] as? Int == 1)
    #expect(try await daemon.job("1").key == "k")
  }
}

@Suite("transferctl add -i", .timeLimit(.minutes(5))) struct AddInputTests {
  @Test("lines are URLs or JSON; comments, blank lines, CRLF and a byte order mark do not matter")
  func lines() async throws {
    let daemon = try await Daemon()
    let text =
      "\u{FEFF}# a list\r\nhttp://127.0.0.1:9/one\r\n\r\n  http://127.0.0.1:9/two  \r\n"
      + #"{"url":"http://127.0.0.1:9/x","destination":"three","priority":5,"batch":"own"}"# + "\r\n"
    for source in ["-", try daemon.directory.file("list", text: text)] {
      let result = try await daemon.run(
        ["add", "-i", source, "--paused", "--batch", "b"], input: Data(text.utf8))
      #expect(result.status == 0 && result.lines.count == 3, "\(result.stderr)")
      let jobs = try await daemon.jobs()
      #expect(jobs.map(\.destination) == ["one", "two", "three"].map { daemon.downloads + "/" + $0 })
      #expect(jobs.map(\.batch) == ["b", "b", "own"] && jobs.last?.priority == 5)
      #expect(jobs.allSatisfy { $0.state == "paused" })
      try await daemon.ctl("remove", "--all")
    }
  }

  @Test("a bad line is reported with its number, the status is 64, and nothing is added")
  func badLine() async throws {
    let daemon = try await Daemon()
    let good = (1...6).map { "http://127.0.0.1:9/\($0)\n" }.joined()
    let bad = [
      "gopher://x/y", "not a url", #"{"url":3}"#, #"{"url":"http://h/x","colour":"red"}"#, "{",
      "http://h/a\u{0}b",
      "http:/",
    ]
    for line in bad {
      let result = try await daemon.run(
        ["add", "-i", "-", "--paused"], input: Data((good + line + "\n").utf8))
      #expect(result.status != 0 && result.stdout == "", "\(line)")
      #expect(result.stderr.hasPrefix("line 7: "), "\(line): \(result.stderr)")
    }
    let invalid = Data(good.utf8) + Data([0x68, 0xFF, 0xFE, 0x0A])
    let result = try await daemon.run(["add", "-i", "-", "--paused"], input: invalid)
    #expect(result.status == 64 && result.stderr.hasPrefix("line 7: "))
    #expect(try await daemon.jobs().isEmpty)
  }

  @Test("a job that the daemon refuses is reported with its line; the others are added")
  func refusedLines() async throws {
    let daemon = try await Daemon()
    try daemon.directory.file("downloads/2")
    let text = (1...3).map { "http://127.0.0.1:9/\($0)\n" }.joined()
    let result = try await daemon.run(["add", "-i", "-", "--paused"], input: Data(text.utf8))
    #expect(result.status == 73 && result.stdout == "1\n2\n", "\(result.stderr)")
    #expect(result.stderr.hasPrefix("line 2: "))
  }

  @Test("a list without jobs is no error")
  func empty() async throws {
    let daemon = try await Daemon()
    let result = try await daemon.run(["add", "-i", "-"], input: Data("# nothing\n\n".utf8))
    #expect(result.status == 0 && result.stdout == "")
  }
}

@Suite("transferctl add --wait", .timeLimit(.minutes(5))) struct AddWaitTests {
  @Test(
    "--wait ends with 0 for completed and 1 for failed, with the id on standard output and messages on standard error")
  func endings() async throws {
    let daemon = try await Daemon()
    let server = try LoopbackServer(files: ["/good": .file(size: 3000)])
    let good = try await daemon.ctl("add", server.url("/good"), "--wait")
    #expect(good.status == 0 && good.stdout == "1\n")
    // Regression: a job that completed before any progress was shown with "0 B". One that completed before the wait began
    // is not printed at all.
    let end = "1 jobs: 1 transferred, 0 unchanged, 0 skipped, 0 failed\n"
    #expect(
      good.stderr == end || good.stderr.hasSuffix("job 1 completed: good (2.9 KiB)\n" + end), "\(good.stderr)")
    let bad = try await daemon.ctl("add", server.url("/bad"), "--wait")
    #expect(bad.status == 1 && bad.stdout == "2\n" && bad.stderr.contains("http-404"))
    let both = try await daemon.ctl("add", server.url("/good"), server.url("/bad"), "--replace", "--wait")
    #expect(both.status == 1 && both.lines.count == 2)
  }

  @Test("--timeout ends the wait with 124, and the job continues")
  func timeout() async throws {
    let daemon = try await Daemon()
    let server = try LoopbackServer(.file(size: 1000).stalling(after: 500))
    let result = try await daemon.ctl("add", server.url("/x"), "--wait", "--timeout", "1")
    #expect(result.status == 124 && result.stdout == "1\n")
    try await daemon.reached("running", by: "1")
    #expect(try await daemon.job("1").state == "running")
    server.release()
    #expect(try await daemon.finished("1").state == "completed")
  }

  @Test("an interrupt ends the wait with 130, and the job continues")
  func interrupted() async throws {
    let daemon = try await Daemon()
    let reached = Gate()
    let proceed = Gate()
    let server = try LoopbackServer(.file(size: 1000).holding(after: 500, reached: reached, until: proceed))
    let child = try daemon.ctlStarted("add", server.url("/x"), "--wait")
    try await child.waitForOutput("1\n")
    try await reached.wait()
    child.kill(SIGINT)
    let result = try await child.result()
    #expect(result.status == 130 && result.stderr.contains("continue"))
    proceed.open()
    #expect(try await daemon.finished("1").state == "completed")
  }
}
