import Foundation
import TestSupport
import Testing

@Suite("transferctl status and show", .timeLimit(.minutes(5))) struct StatusTests {
  static let fields: Set = [
    "id", "phase", "kind", "state", "source", "destination", "bytesDone", "bytesTotal", "bytesPerSecond", "attempt",
    "maxAttempts", "retryAt", "priority", "batch", "key", "checksum", "error", "action", "createdAt", "startedAt",
    "finishedAt", "waiting", "result",
  ]

  @Test("an empty list is [] in JSON and nothing in other formats, and the status is 0")
  func empty() async throws {
    let daemon = try await Daemon()
    for (format, output) in [("json", "[]\n"), ("jsonl", ""), ("name", ""), ("table", ""), ("wide", "")] {
      let result = try await daemon.ctl("status", "--format", format)
      #expect(result.status == 0 && result.stdout == output, "\(format)")
    }
    #expect(try await daemon.ctl("ls", "--state", "failed").status == 0)
  }

  @Test("every documented field is present, with null for missing values")
  func jsonFields() async throws {
    let daemon = try await Daemon()
    _ = try await daemon.addPaused("x")
    let output = try await daemon.ctl("status", "--format", "json").output
    let jobs = try #require(try JSONSerialization.jsonObject(with: output) as? [[String: Any]])
    let job = try #require(jobs.first)
    #expect(Set(job.keys) == Self.fields)
    for name in [
      "bytesTotal", "retryAt", "batch", "key", "checksum", "error", "action", "startedAt", "finishedAt", "waiting",
      "result", "phase",
    ] {
      #expect(job[name] is NSNull, "\(name)")
    }
    let created = try #require(job["createdAt"] as? String)
    #expect(
      created.hasSuffix("Z")
        && (try? Date.ISO8601FormatStyle(includingFractionalSeconds: true).parse(created)) != nil)
    #expect(job["state"] as? String == "paused" && job["kind"] as? String == "download")
  }

  @Test("a failed job has code, message, HTTP status and whether the error is transient")
  func failure() async throws {
    let daemon = try await Daemon()
    let server = try LoopbackServer(.file(size: 1).failing(404))
    let job = try await daemon.finished(daemon.add(server.url("/x")))
    let error = try #require(job.error)
    #expect(error.code == "http-404" && error.httpStatus == 404 && !error.transient && error.message != "")
    #expect(job.finishedAt != nil && job.startedAt != nil)
    let show = try await daemon.ctl("show", "1")
    #expect(show.stdout.contains("http-404") && show.status == 0)
  }

  @Test("times are the same in the API and the CLI")
  func times() async throws {
    // Regression: the CLI lost a millisecond, because the formatter truncates binary fractions.
    let daemon = try await Daemon()
    for number in 0..<20 { _ = try await daemon.addPaused("x\(number)") }
    let page = try await daemon.curl("/v1/jobs?limit=50").json["jobs"] as? [[String: Any]]
    #expect(page?.map { $0["createdAt"] as? String } == (try await daemon.jobs().map(\.createdAt)))
  }

  @Test("1500 jobs are listed completely in every format, page by page")
  func many() async throws {
    let daemon = try await Daemon()
    let list = (1...1500).map { "http://127.0.0.1:9/f\($0)\n" }.joined()
    let added = try await daemon.run(["add", "-i", "-", "--paused"], input: Data(list.utf8))
    #expect(added.lines == (1...1500).map(String.init))
    #expect(try await daemon.ctl("status", "--format", "name").stdout == added.stdout)
    let lines = try await daemon.ctl("status", "--format", "jsonl").lines
    let ids = lines.compactMap { line in
      ((try? JSONSerialization.jsonObject(with: Data(line.utf8))) as? [String: Any])?["id"] as? Int
    }
    #expect(ids == Array(1...1500))
    #expect(try await daemon.jobs().count == 1500)
    #expect(try await daemon.ctl("status").lines.count == 1501)
    #expect(try await daemon.ctl("status", "--format", "wide").lines.count == 1501)
  }

  @Test("--state, --batch and ids select jobs; a missing job or batch exits with 4")
  func filters() async throws {
    let daemon = try await Daemon()
    _ = try await daemon.addPaused("a", "--batch", "b1")
    _ = try await daemon.addPaused("b")
    try await daemon.ctl("cancel", "2")
    #expect(try await daemon.jobs("--state", "paused").map(\.id) == [1])
    #expect(try await daemon.jobs("--batch", "b1").map(\.id) == [1])
    #expect(try await daemon.jobs("2", "1").map(\.id) == [1, 2])
    #expect(try await daemon.jobs("--batch", "b1", "--state", "failed").isEmpty)
    for arguments in [["99"], ["1", "99"], ["--batch", "none"]] {
      #expect(try await daemon.run(["status"] + arguments).status == 4, "\(arguments)")
    }
    #expect(try await daemon.ctl("show", "99").status == 4)
    for arguments in [["x"], ["0"], ["--state", "gone"], ["--format", "xml"], ["--batch", ""]] {
      #expect(try await daemon.run(["status"] + arguments).status == 64, "\(arguments)")
    }
  }

  @Test("control characters from a server are escaped")
  func controlCharacters() async throws {
    let daemon = try await Daemon()
    let server = try LoopbackServer { _ in
      [.raw(Data("HTTP/1.1 404 \u{1B}[31mred\u{7}\r\nContent-Length: 0\r\n\r\n".utf8)), .close]
    }
    _ = try await daemon.finished(daemon.add(server.url("/%1B%5D0;x")))
    for arguments in [
      ["status"], ["status", "--format", "wide"], ["status", "--format", "json"], ["show", "1"], ["events"],
    ] {
      #expect(!(try await daemon.run(arguments).stdout.contains("\u{1B}")), "\(arguments)")
    }
  }

  @Test("colours are used on terminals only, and not with NO_COLOR")
  func colour() async throws {
    let daemon = try await Daemon()
    _ = try await daemon.addPaused("x")
    var launch = try daemon.ctlLaunch(["status"])
    #expect(!(try await launch.run().stdout.contains("\u{1B}")))
    launch.output = .terminal
    launch.environment["TERM"] = "xterm"
    #expect(try await launch.run().stdout.contains("\u{1B}"))
    launch.environment["NO_COLOR"] = "1"
    #expect(!(try await launch.run().stdout.contains("\u{1B}")))
  }
}

@Suite("transferctl's standard output", .timeLimit(.minutes(5))) struct OutputTests {
  @Test("a failed write to standard output exits with 1", arguments: [Launch.Stream.closed, .file("/dev/full")])
  func unwritable(_ stream: Launch.Stream) async throws {
    let daemon = try await Daemon()
    _ = try await daemon.addPaused("x")
    let table = [
      ["status"], ["status", "--format", "json"], ["show", "1"], ["events"], ["export"], ["version"],
      ["daemon", "status"],
      ["--help"], ["add", "http://127.0.0.1:9/y", "--paused"],
    ]
    for arguments in table {
      var launch = try daemon.ctlLaunch(arguments)
      if arguments == ["--help"] { launch.arguments = arguments }
      launch.output = stream
      let result = try await launch.run()
      #expect(result.status == 1 && result.stderr != "", "\(arguments): \(result.ending)")
      // With a closed output nothing is added.
      guard arguments[0] == "add", case .file = stream else { continue }
      #expect(result.stderr.contains("the job may have been added"), "\(result.stderr)")
    }
  }

  @Test("a reader that exits early causes no crash")
  func head() async throws {
    let daemon = try await Daemon()
    _ = try await daemon.addPaused("x")
    let ctl = try daemon.ctlLaunch(["status"])
    let line = "\(ctl.program) \(ctl.arguments.joined(separator: " ")) | head -1; :"
    let result = try await Launch("/bin/sh", ["-c", line], environment: ctl.environment).run()
    #expect(result.lines.count == 1 && result.status == 0)
  }
}
