import Foundation
import TestSupport
import Testing

@Suite("Adding lists", .timeLimit(.minutes(5))) struct BulkAddTests {
  /// Sends a list with curl. Returns the lines of the response.
  private func add(
    _ daemon: Daemon, _ type: String, _ options: String?, _ body: Data
  ) async throws -> (status: Int, lines: [String]) {
    var arguments = ["--data-binary", "@-", "-H", "Content-Type: \(type)"]
    if let options { arguments += ["-H", "Job-Options: \(options)"] }
    let answer = try await daemon.curl("/v1/jobs:batch", arguments, input: body)
    return (answer.status, answer.body.split(separator: "\n").map(String.init))
  }

  @Test("a list of URLs gets runs of ids, and a line for each URL that is refused")
  func urls() async throws {
    let daemon = try await Daemon()
    let directory = daemon.downloads
    try Data().write(to: URL(filePath: directory + "/there"))
    let list =
      "# list\r\nhttp://127.0.0.1:9/1\r\n\r\nhttp://127.0.0.1:9/2\nnope\nhttp://127.0.0.1:9/there\nhttp://127.0.0.1:9/7"
    let options = "{\"directory\":\"\(directory)\",\"paused\":true,\"batch\":\"b\",\"priority\":3}"
    let answer = try await add(daemon, "text/uri-list", options, Data(list.utf8))
    #expect(answer.status == 200)
    let problems = answer.lines.filter { $0.contains("error") }
    #expect(
      answer.lines.filter { !$0.contains("error") } == [
        #"{"lines":[2,2],"ids":[1,1]}"#, #"{"lines":[4,4],"ids":[2,2]}"#, #"{"lines":[7,7],"ids":[3,3]}"#,
      ])
    #expect(problems.count == 2 && problems[0].hasSuffix("\"line\":5}") && problems[1].hasSuffix("\"line\":6}"))
    #expect(problems[1].contains("destination-exists"))
    let jobs = try await daemon.jobs()
    #expect(jobs.map(\.destination) == ["1", "2", "7"].map { directory + "/" + $0 })
    #expect(jobs.allSatisfy { $0.state == "paused" && $0.batch == "b" && $0.priority == 3 })
  }

  @Test("a list of paths gets runs of ids; a known key names the job that exists")
  func paths() async throws {
    let daemon = try await Daemon()
    let folder = daemon.downloads
    for name in ["a", "b c", "d\ne"] { try Data(name.utf8).write(to: URL(filePath: folder + "/" + name)) }
    let list = Data(["a", "none", "b c", "d\ne"].map { "\(folder)/\($0)\0" }.joined().utf8)
    let options = #"{"destination":"http://127.0.0.1:9/in/","key":"{path}:{size}","paused":true}"#
    let answer = try await add(daemon, "application/vnd.transferd.paths", options, list)
    #expect(answer.lines.count == 3)
    #expect(
      answer.lines.first == #"{"lines":[1,1],"ids":[1,1]}"# && answer.lines.last == #"{"lines":[3,4],"ids":[2,3]}"#)
    #expect(answer.lines[1].contains("source-missing") && answer.lines[1].hasSuffix("\"line\":2}"))
    let jobs = try await daemon.jobs()
    #expect(
      jobs.map(\.destination) == [
        "http://127.0.0.1:9/in/a", "http://127.0.0.1:9/in/b%20c", "http://127.0.0.1:9/in/d%0Ae",
      ])
    let again = try await add(daemon, "application/vnd.transferd.paths", options, list)
    #expect(again.lines.count(where: { $0.contains("\"existing\":true") }) == 3)
    #expect(try await daemon.jobs().count == 3)
  }

  @Test("options that no line can have are refused before the list is read")
  func options() async throws {
    let daemon = try await Daemon()
    let list = Data("http://127.0.0.1:9/1\n".utf8)
    let long = "{\"directory\":\"/\",\"batch\":\"\(String(repeating: "x", count: 8200))\"}"
    for (type, options, status) in [
      ("text/uri-list", nil, 400), ("text/uri-list", "{}", 400), ("text/uri-list", "nope", 400),
      ("text/uri-list", #"{"directory":"/x","prio":1}"#, 400), ("text/uri-list", #"{"directory":"/x","key":"k"}"#, 400),
      ("text/uri-list", #"{"directory":"/x","source":"http://h/"}"#, 400), ("text/uri-list", long, 413),
      ("application/vnd.transferd.paths", #"{"directory":"/x"}"#, 400),
      ("application/vnd.transferd.paths", #"{"destination":"http://h/{sha256}"}"#, 400),
      ("application/x-ndjson", "{}", 400),
    ] as [(String, String?, Int)] {
      #expect(try await add(daemon, type, options, list).status == status, "\(type) \(options ?? "-")")
    }
    #expect(try await daemon.jobs().isEmpty)
  }

  @Test("add prints the ids of a long list from a file and from a pipe, in the order of its lines")
  func long() async throws {
    let daemon = try await Daemon()
    let count = 5000
    let list = daemon.downloads + "/list.txt"
    try Data((1...count).map { "http://127.0.0.1:9/f\($0)\n" }.joined().utf8).write(to: URL(filePath: list))
    let added = try await daemon.ctl("add", "-i", list, "--paused", "-d", daemon.downloads)
    #expect(added.status == 0 && added.lines == (1...count).map(String.init))
    let piped = Data((1...count).map { "http://127.0.0.1:9/g\($0)\r\n" }.joined().utf8)
    let more = try await daemon.run(["add", "-i", "-", "--paused", "http://127.0.0.1:9/first"], input: piped)
    #expect(more.status == 0 && more.lines == (count + 1...2 * count + 1).map(String.init))
    #expect(try await daemon.job("\(count + 1)").destination.hasSuffix("/first"))
    #expect(try await daemon.job("\(2 * count + 1)").destination.hasSuffix("/g\(count)"))
  }

  @Test("one bad line keeps a list out; refusals by the daemon name their lines")
  func faults() async throws {
    let daemon = try await Daemon()
    let list = Data("http://127.0.0.1:9/1\n#\nhttp://127.0.0.1:9/2 x\nhttp://127.0.0.1:9/3\n".utf8)
    let bad = try await daemon.run(["add", "-i", "-", "--paused"], input: list)
    #expect(bad.status == 64 && bad.stdout.isEmpty && bad.stderr.contains("line 3: the URL has a space"))
    #expect(bad.stderr.contains("nothing was added"))
    let twice = Data("http://127.0.0.1:9/1\n\nhttp://127.0.0.1:9/1\nhttp://127.0.0.1:9/4\n".utf8)
    let refused = try await daemon.run(["add", "-i", "-", "--paused"], input: twice)
    #expect(refused.status == 73 && refused.lines == ["1", "2"] && refused.stderr.contains("line 3: "))
    #expect(refused.stderr.contains("added 2 of 3 jobs; 1 refused"))
  }

  @Test("upload sends a list of paths with templates, and a key adds nothing twice")
  func uploads() async throws {
    let daemon = try await Daemon()
    let folder = daemon.downloads
    for name in ["a", "b"] { try Data(name.utf8).write(to: URL(filePath: folder + "/" + name)) }
    let arguments = [
      "upload", folder + "/a", folder + "/missing", folder + "/b", "--to", "http://127.0.0.1:9/in/{name}.x",
      "--key", "{path}:{mtime}", "--paused",
    ]
    let first = try await daemon.run(arguments)
    #expect(first.status == 1 && first.lines == ["1", "2"] && first.stderr.contains("missing: it does not exist"))
    #expect(try await daemon.jobs().map(\.destination) == ["http://127.0.0.1:9/in/a.x", "http://127.0.0.1:9/in/b.x"])
    let second = try await daemon.run(arguments)
    #expect(second.lines == ["1", "2"] && second.stderr.contains("was added before with this key"))
    #expect(try await daemon.jobs().count == 2)
  }

  @Test("after Ctrl-C every added job is printed, and the exit status is 130")
  func interrupt() async throws {
    let daemon = try await Daemon()
    let count = 200_000
    let list = daemon.downloads + "/list.txt"
    try Data((1...count).map { "http://127.0.0.1:9/f\($0)\n" }.joined().utf8).write(to: URL(filePath: list))
    let child = try daemon.ctlStarted("add", "-i", list, "--paused", "-d", daemon.downloads)
    try await child.waitForOutput("1\n")
    child.kill(SIGINT)
    let result = try await child.result(timeout: .seconds(120))
    #expect(result.status == 130, "\(result.stderr)")
    let printed = result.lines.count
    #expect(result.lines == (1...max(1, printed)).map(String.init) && printed < count)
    #expect(result.stderr.contains("interrupted; added \(printed) of \(count) jobs; the jobs continue"))
    let stats = try await daemon.curl("/v1/stats").json["counts"] as? [String: Any]
    #expect(stats?["paused"] as? Int == printed)
  }
}
