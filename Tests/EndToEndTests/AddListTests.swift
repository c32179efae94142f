import Foundation
import Glibc
import TestSupport
import Testing

/// What `add` reads: globs, bases, templates, formats of lists.
@Suite("transferctl add: lists and names", .timeLimit(.minutes(5))) struct AddListTests {
  @Test("--glob and a template for -o: every file is downloaded to its place, in new directories")
  func glob() async throws {
    let daemon = try await Daemon()
    let server = try LoopbackServer { request in .response(200, body: Data(request.target.utf8)) }
    let arguments = ["add", "--glob", server.url("/d[08-10]/{a,b}.txt?q=1"), "-o", "{host}/{n}/{path}"]
    let missing = try await daemon.run(arguments)
    #expect(missing.status == 73 && missing.stdout.isEmpty, "\(missing.stderr)")
    let result = try await daemon.run(arguments + ["--create-dirs", "--wait"])
    #expect(result.status == 0 && result.lines.count == 6, "\(result.stderr)")
    for (index, path) in ["d08/a", "d08/b", "d09/a", "d09/b", "d10/a", "d10/b"].enumerated() {
      let file = daemon.downloads + "/127.0.0.1/\(index + 1)/\(path).txt"
      #expect(try String(contentsOfFile: file, encoding: .utf8) == "/\(path).txt?q=1")
    }
  }

  @Test("a long list with globs and relative URLs is added in order, and refusals name its lines")
  func longGlob() async throws {
    let daemon = try await Daemon()
    try daemon.directory.file("downloads/a7")
    let list = Data("a[1-2000]\n# c\n\nhttp://127.0.0.1:9/c\n../b[1-3]\n".utf8)
    let added = try await daemon.run(
      ["add", "-i", "-", "--glob", "--base", "http://127.0.0.1:9/x/y", "--paused", "{s,t}"], input: list)
    #expect(added.status == 73 && added.lines == (1...2005).map(String.init))
    #expect(added.stderr.contains("line 1: cannot write to \(daemon.downloads)/a7"), "\(added.stderr.prefix(300))")
    let jobs = try await daemon.jobs()
    #expect(jobs.first?.source == "http://127.0.0.1:9/x/s" && jobs.last?.source == "http://127.0.0.1:9/b3")
    #expect(jobs[2].source == "http://127.0.0.1:9/x/a1" && jobs[2001].source == "http://127.0.0.1:9/c")
  }

  @Test("a fault in a glob, or too many URLs, adds nothing")
  func globFaults() async throws {
    let daemon = try await Daemon()
    for (list, place) in [
      ("http://127.0.0.1:9/a\nhttp://127.0.0.1:9/[1-\n", "line 2: a [ has no ]"),
      ("http://127.0.0.1:9/[1-999999]\nhttp://127.0.0.1:9/a\nhttp://127.0.0.1:9/b\n", "line 3: more than 1000000 URLs"),
    ] {
      let result = try await daemon.run(["add", "-i", "-", "--glob", "--paused"], input: Data(list.utf8))
      #expect(result.status == 64 && result.stdout.isEmpty && result.stderr.contains(place), "\(result.stderr)")
    }
    #expect(try await daemon.jobs().isEmpty)
  }

  @Test("input files of aria2 and CSV are recognized by their content, and become jobs")
  func formats() async throws {
    let daemon = try await Daemon()
    let aria2 = "http://127.0.0.1:9/1\n  out=one x\n  header=X-A: 1\nhttp://127.0.0.1:9/2\n  dir=\(daemon.downloads)\n"
    let csv = "url,out,priority\r\nhttp://127.0.0.1:9/3,\"th\"\"ree\",7\r\nhttp://127.0.0.1:9/{n},,\r\n"
    for text in [aria2, csv] {
      let result = try await daemon.run(["add", "-i", "-", "--paused"], input: Data(text.utf8))
      #expect(result.status == 0 && result.lines.count == 2, "\(result.stderr)")
    }
    let jobs = try await daemon.jobs()
    #expect(jobs.map(\.destination) == ["one x", "2", "th\"ree", "{n}"].map { daemon.downloads + "/" + $0 })
    #expect(jobs.map(\.priority) == [0, 0, 7, 0])
    let named = try await daemon.run(["add", "-i", "-", "--input-format", "urls"], input: Data(csv.utf8))
    #expect(named.status == 64 && named.stderr.contains("line 1: not a URL"), "\(named.stderr)")
    let option = try await daemon.run(
      ["add", "-i", "-"], input: Data("http://127.0.0.1:9/5\n  bt-seed=1\n".utf8))
    #expect(option.status == 64 && option.stderr.contains("line 2: the option bt-seed"), "\(option.stderr)")
    #expect(try await daemon.jobs().count == 4)
  }
}

@Suite("--dry-run", .timeLimit(.minutes(5))) struct DryRunTests {
  @Test("add prints sources and destinations without a daemon, and without secrets")
  func add() async throws {
    let user = try FreshUser()
    let list = try user.directory.file(
      "list", text: "http://u:s3cret@h.test/b?token=s3cret\n{\"url\":\"http://h.test/c\",\"destination\":\"x\"}\n")
    let result = try await user.ctl("add", "--dry-run", "http://h.test/a", "http://h.test/", "-i", list, "-d", "/dl")
    #expect(result.status == 0, "\(result.stderr)")
    #expect(
      result.stdout
        == "http://h.test/a\t/dl/a\nhttp://h.test/\t/dl/\nhttp://h.test/b?token=***\t/dl/b\nhttp://h.test/c\t/dl/x\n")
    #expect(user.daemonPID == nil && !FileManager.default.fileExists(atPath: user.state))
  }

  @Test("the lines of JSON are those that add -i reads")
  func roundTrip() async throws {
    let daemon = try await Daemon()
    let arguments = [
      "add", "--glob", "http://u:s3cret@127.0.0.1:9/[1-2]", "http://127.0.0.1:9/", "--header", "X-A: 1", "--paused",
      "--batch", "b", "--create-dirs", "-o", "{n}/{name}",
    ]
    let dry = try await daemon.run(arguments + ["--dry-run", "--format", "jsonl"])
    #expect(dry.status == 0 && dry.lines.count == 3, "\(dry.stderr)")
    #expect(try await daemon.jobs().isEmpty)
    let real = try await daemon.run(arguments)
    let first = try await daemon.jobs()
    try await daemon.ctl("remove", "--all")
    let again = try await daemon.run(["add", "-i", "-"], input: dry.output)
    let second = try await daemon.jobs()
    #expect(real.status == 0 && again.status == 0, "\(real.stderr) \(again.stderr)")
    #expect(first.map(\.destination) == second.map(\.destination) && first.map(\.source) == second.map(\.source))
    #expect(second.allSatisfy { $0.batch == "b" && $0.state == "paused" } && second.count == 3)
  }

  @Test("errors of usage are those of the real call")
  func faults() async throws {
    let daemon = try await Daemon()
    for arguments in [
      ["add", "nope"], ["add", "http://h/1", "http://h/2", "-o", "x"], ["add", "http://h/[2-1]", "--glob"],
      ["add", "-i", "/nonexistent"], ["upload", "/nonexistent/x", "--to", "http://h/"], ["upload", "x"],
      ["upload", "/", "--to", "http://h/"], ["upload", "-", "--name", "n", "--to", "http://h/{sha256}"],
    ] {
      let (real, dry) = (try await daemon.run(arguments), try await daemon.run(arguments + ["--dry-run"]))
      #expect(real.status != 0 && dry.status == real.status && dry.stderr == real.stderr, "\(arguments)")
      #expect(dry.stdout.isEmpty)
    }
    #expect(try await daemon.run(["upload", "x", "--to", "http://h/", "--format", "jsonl"]).status == 64)
  }

  @Test("upload prints files and their URLs, and the lines of a manifest")
  func upload() async throws {
    let daemon = try await Daemon()
    let path = try daemon.source("a b", Payload(size: 10))
    let text = try await daemon.run(["upload", path, path + "x", "--to", "http://u:p@127.0.0.1:9/in/", "--dry-run"])
    #expect(text.status == 1 && text.stdout == "\(path)\thttp://127.0.0.1:9/in/a%20b\n" && text.stderr.contains("a bx"))
    let lines = try await daemon.run([
      "upload", path, "--to", "http://127.0.0.1:9/{name}.{size}", "--paused", "--dry-run", "--format", "jsonl",
    ])
    #expect(lines.status == 0 && lines.lines.count == 1, "\(lines.stderr)")
    let added = try await daemon.run(["upload", "--manifest", "-"], input: lines.output)
    #expect(added.status == 0 && added.lines == ["1"], "\(added.stderr)")
    #expect(try await daemon.job("1").destination == "http://127.0.0.1:9/a%20b.10")
    let input = try await daemon.run(["upload", "-", "--name", "n", "--to", "http://127.0.0.1:9/in/", "--dry-run"])
    #expect(input.status == 0 && input.stdout == "-\thttp://127.0.0.1:9/in/n\n", "\(input.stderr)")
    #expect(try await daemon.jobs().count == 1 && daemon.spooled.isEmpty)
  }
}
