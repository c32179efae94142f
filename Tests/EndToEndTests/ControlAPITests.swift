import Foundation
import Glibc
import TestSupport
import Testing

@Suite("the control API", .timeLimit(.minutes(5))) struct ControlAPITests {
  func body(_ daemon: Daemon, _ name: String) -> String {
    #"{"url":"http://127.0.0.1:9/\#(name)","destination":"\#(daemon.downloads)/\#(name)","paused":true}"#
  }

  @Test("every route can be used with curl")
  func routes() async throws {
    let daemon = try await Daemon()
    let added = try await daemon.curl("/v1/jobs", "-d", body(daemon, "a"))
    #expect(
      added.status == 201 && added.head.contains("location: /v1/jobs/1") && added.json["id"] as? Int == 1)
    _ = try await daemon.addPaused("b", "--batch", "n")
    #expect(try await daemon.curl("/v1/jobs/1").json["state"] as? String == "paused")
    #expect(
      try await daemon.curl("/v1/jobs/1", "-X", "PATCH", "-d", #"{"priority":7}"#).json["priority"] as? Int
        == 7)
    for (verb, state) in [
      ("cancel", "cancelled"), ("retry", "queued"), ("pause", "paused"), ("resume", "queued"),
      ("cancel", "cancelled"),
    ] {
      let answer = try await daemon.curl("/v1/jobs/1:\(verb)", "-X", "POST")
      #expect(answer.status == 200, "\(verb): \(answer.body)")
      if state != "queued" { #expect(answer.json["state"] as? String == state, "\(verb)") }
    }
    for verb in ["pause", "resume", "cancel", "retry", "remove"] {
      let answer = try await daemon.curl("/v1/jobs:\(verb)", "-d", #"{"state":"failed"}"#)
      #expect(answer.status == 200 && answer.json["changed"] as? Int == 0, "\(verb): \(answer.body)")
    }
    #expect(try await daemon.curl("/v1/jobs:pause", "-d", #"{"ids":[2]}"#).json["changed"] as? Int == 1)
    #expect(try await daemon.curl("/v1/batches").body.contains(#""name":"n""#))
    #expect(try await daemon.curl("/v1/batches/n").status == 200)
    #expect(try await daemon.curl("/v1/stats").json["pid"] as? Int == daemon.pid.map(Int.init))
    #expect(try await daemon.curl("/healthz").body == "ok\n")
    #expect(try await daemon.curl("/metrics").body.contains(#"transferd_jobs{state="paused"} 1"#))
    #expect(try await daemon.curl("/v1/export").body.contains(#""state":"paused""#))
    #expect(try await daemon.curl("/v1/jobs/1", "-X", "DELETE").status == 204)
    #expect(try await daemon.curl("/v1/jobs/1").status == 404)
  }

  @Test("HEAD has the response of GET without the body; on a route without GET it is refused")
  func head() async throws {
    let daemon = try await Daemon()
    _ = try await daemon.addPaused("a", "--batch", "n")
    for path in [
      "/v1/jobs", "/v1/jobs/1", "/v1/events", "/v1/events?follow=false", "/v1/batches", "/v1/batches/n", "/v1/export",
      "/healthz", "/metrics", "/v1/jobs/99", "/v1/jobs?limit=0",
    ] {
      let head = try await daemon.curl(path, "--head")
      #expect(head.body.isEmpty, "\(path): \(head.body)")
      if path == "/v1/events" {
        // The stream never ends, but its head comes at once.
        #expect(head.status == 200 && head.head.contains("content-type: text/event-stream"))
        continue
      }
      let get = try await daemon.curl(path)
      let lines = { (text: String) in Set(text.split(separator: "\n")).subtracting(["connection: close"]) }
      #expect(head.status == get.status && lines(head.head) == lines(get.head), "\(path): \(head.head)\n\(get.head)")
    }
    let refused = try await daemon.curl("/v1/jobs:pause", "--head")
    #expect(refused.status == 405 && refused.body.isEmpty && refused.head.contains("allow: post"))
    #expect(try await daemon.curl("/v1/stats", "-X", "PUT").head.contains("allow: get, head"))
    // The connection can be reused.
    let twice = try await daemon.curlLaunch(
      "/healthz", ["--head", "--next", "-sS", "--unix-socket", daemon.socketPath, "http://transferd/healthz"]
    ).run()
    #expect(twice.stdout.hasSuffix("ok\n"))
  }

  @Test("errors are problem+json with a stable code")
  func problems() async throws {
    let daemon = try await Daemon()
    _ = try await daemon.addPaused("a")
    try await daemon.ctl("cancel", "1")
    try daemon.directory.file("downloads/there")
    let table: [(String, [String], Int, String)] = [
      ("/nothing", [], 404, "not-found"), ("/v1/jobs/99", [], 404, "not-found"),
      ("/v1/jobs/x", [], 404, "not-found"),
      ("/v1/jobs/1:fly", ["-X", "POST"], 404, "not-found"), ("/v1/batches/none", [], 404, "not-found"),
      ("/v1/jobs?batch=none", [], 404, "not-found"), ("/v1/jobs", ["-X", "PUT"], 405, "method-not-allowed"),
      ("/v1/stats", ["-X", "DELETE"], 405, "method-not-allowed"),
      ("/v1/jobs/1", ["-X", "POST"], 405, "method-not-allowed"),
      ("/v1/jobs/1:pause", ["-X", "POST"], 409, "not-allowed"), ("/v1/jobs?limit=0", [], 400, "invalid"),
      ("/v1/jobs?state=odd", [], 400, "invalid"), ("/v1/jobs?after=x", [], 400, "invalid"),
      ("/v1/events?since=-1", [], 400, "invalid"), ("/v1/jobs", ["-d", ""], 400, "invalid"),
      ("/v1/jobs", ["-d", "x"], 400, "invalid"), ("/v1/jobs", ["-d", "[]"], 400, "invalid"),
      ("/v1/jobs", ["-d", #"{"url":"http://h/x"}"#], 400, "invalid"),
      ("/v1/jobs", ["-d", #"{"url":"gopher://h/x","destination":"/tmp/x"}"#], 400, "invalid"),
      ("/v1/jobs", ["-d", #"{"url":"http://h/x","destination":"x"}"#], 400, "invalid"),
      ("/v1/jobs", ["-d", #"{"url":"http://h/x","destination":"/tmp/../x"}"#], 400, "invalid"),
      ("/v1/jobs", ["-d", #"{"url":"http://h/x","destination":"/tmp/a\u0000b"}"#], 400, "invalid"),
      ("/v1/jobs", ["-d", #"{"url":"http://h/x","destination":"/tmp/x","color":1}"#], 400, "invalid"),
      (
        "/v1/jobs", ["-d", #"{"url":"http://h/x","destination":"/tmp/x","headers":{"A":"b\r\nC: d"}}"#], 400,
        "invalid"
      ),
      (
        "/v1/jobs", ["-d", #"{"url":"http://h/x","destination":"/tmp/x","headers":{"Host":"b"}}"#], 400,
        "invalid"
      ),
      ("/v1/jobs", ["-d", #"{"url":"http://h/x","destination":"/tmp/x","limitRate":0}"#], 400, "invalid"),
      (
        "/v1/jobs", ["-d", #"{"url":"http://h/x","destination":"\#(daemon.downloads)/there"}"#], 409,
        "destination-exists"
      ),
      (
        "/v1/jobs", ["-d", #"{"url":"http://h/x","destination":"\#(daemon.downloads)/no/x"}"#], 422,
        "destination-missing"
      ),
      // Regression: a misspelt field was ignored.
      ("/v1/jobs/1", ["-X", "PATCH", "-d", #"{"priorty":4}"#], 400, "invalid"),
      ("/v1/jobs:pause", ["-d", "{}"], 400, "invalid"),
      ("/v1/jobs:pause", ["-d", #"{"ids":[1],"all":true}"#], 400, "invalid"),
      ("/v1/jobs:cancel", ["-d", #"{"all":true,"except":[1]}"#], 400, "invalid"),
    ]
    for (path, arguments, status, code) in table {
      let result = try await daemon.curlLaunch(path, ["-i", "--max-time", "20"] + arguments).run().stdout
      let head = result.prefix(600).lowercased()
      #expect(head.hasPrefix("http/1.1 \(status) "), "\(path) \(arguments): \(result)")
      #expect(head.contains("content-type: application/problem+json"))
      #expect(result.contains(#""code":"\#(code)""#), "\(path) \(arguments): \(result)")
      // RFC 9110 §15.5.6
      #expect(status != 405 || head.contains("\nallow: "), "\(result)")
    }
    #expect(try await daemon.jobs().map(\.state) == ["cancelled"])
  }

  @Test("paging by key continues when jobs are removed meanwhile")
  func pages() async throws {
    let daemon = try await Daemon()
    let list = (1...7).map { "http://127.0.0.1:9/\($0)\n" }.joined()
    _ = try await daemon.run(["add", "-i", "-", "--paused"], input: Data(list.utf8))
    var (ids, after): ([Int], Int?) = ([], 0)
    while let last = after {
      let page = try await daemon.curl("/v1/jobs?limit=3&after=\(last)").json
      ids += (page["jobs"] as? [[String: Any]] ?? []).compactMap { $0["id"] as? Int }
      after = page["next"] as? Int
      if last == 0 { try await daemon.ctl("remove", "3", "4") }
    }
    #expect(ids == [1, 2, 3, 5, 6, 7])
  }

  @Test("jobs:batch has one response line per line; bad lines do not affect the others")
  func batch() async throws {
    let daemon = try await Daemon()
    var lines = Data((body(daemon, "a") + "\n").utf8)
    lines += Data([0xFF, 0xFE, 0x0A]) + Data("{\"url\":\n\n[]\n".utf8)
    lines += Data(repeating: UInt8(ascii: "x"), count: 10_000_000) + Data([0x0A])
    lines += Data(body(daemon, "b").utf8)  // a line without a newline at its end
    let answer = try await daemon.curl("/v1/jobs:batch", "--data-binary", "@-", input: lines)
    let results = answer.body.split(separator: "\n").compactMap {
      (try? JSONSerialization.jsonObject(with: Data($0.utf8))) as? [String: Any]
    }
    #expect(answer.status == 200 && answer.head.contains("application/x-ndjson"))
    #expect(results.map { $0["line"] as? Int } == [1, 2, 3, 5, 6, 7], "\(answer.body)")
    #expect(results.map { $0["id"] as? Int } == [1, nil, nil, nil, nil, 2])
    #expect((results[4]["error"] as? [String: Any])?["code"] as? String == "too-large")
    #expect(daemon.residentBytes < 150 << 20)
    #expect(try await daemon.curl("/healthz").status == 200)
  }

  @Test("a verb takes 100,000 ids at once, whose problems all arrive, and refuses more")
  func manyIDs() async throws {
    let daemon = try await Daemon()
    for (count, status, problems) in [(100_000, 200, 100_000), (100_001, 413, nil)] as [(Int, Int, Int?)] {
      let ids = (1...count).map(String.init).joined(separator: ",")
      let answer = try await daemon.curl(
        "/v1/jobs:pause", "--data-binary", "@-", input: Data("{\"ids\":[\(ids)]}".utf8))
      #expect(answer.status == status, "\(answer.body.prefix(200))")
      #expect((answer.json["problems"] as? [Any])?.count == problems)
    }
  }

  /// Python's http.client does this. Regression: client and daemon waited for each other until the daemon disconnected.
  @Test("a client may send a long list completely before it reads the response")
  func unreadAnswers() async throws {
    let daemon = try await Daemon()
    let lines = (0..<20_000).map { _ in "{\"url\":1}\n" }.joined()
    let client = try UnixClient(daemon.socketPath)
    client.send(
      Data(
        ("POST /v1/jobs:batch HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Length: \(lines.utf8.count)\r\n\r\n"
          + lines).utf8), patience: 30_000)
    var answer = ""
    while case let piece = client.receive(within: 60_000), !piece.isEmpty { answer += piece }
    #expect(answer.contains("\"line\":20000}\n"), "\(answer.suffix(200))")
    #expect(answer.hasSuffix("0\r\n\r\n"))
  }

  @Test("a client that expects 100 Continue gets it; an HTTP/1.0 connection ends with its response")
  func courtesies() async throws {
    let daemon = try await Daemon()
    let body = body(daemon, "a")
    let client = try UnixClient(daemon.socketPath)
    client.send(
      "POST /v1/jobs HTTP/1.1\r\nHost: x\r\nExpect: 100-continue\r\nContent-Length: \(body.utf8.count)\r\n\r\n")
    #expect(client.receive() == "HTTP/1.1 100 Continue\r\n\r\n")
    client.send(body)
    var added = client.receive()
    while !added.hasSuffix("}\n"), case let piece = client.receive(), !piece.isEmpty { added += piece }
    #expect(added.hasPrefix("HTTP/1.1 201 Created\r\n"))
    // A second request on the same connection.
    client.send("GET /healthz HTTP/1.1\r\nHost: x\r\nExpect: 100-continue\r\n\r\n")
    #expect(client.receive().hasPrefix("HTTP/1.1 100 Continue\r\n\r\n"))
    let old = try UnixClient(daemon.socketPath)
    old.send("GET /healthz HTTP/1.0\r\n\r\n")
    var answer = ""
    while case let piece = old.receive(within: 30_000), !piece.isEmpty { answer += piece }
    #expect(answer.hasSuffix("\r\n\r\nok\n"))
  }

  @Test("a client that disconnects in the middle of a line does no harm")
  func halfLine() async throws {
    let daemon = try await Daemon()
    for text in [
      "POST /v1/jobs:batch HTTP/1.1\r\nHost: x\r\nContent-Length: 1000\r\n\r\n{\"url\":", "GET /v1/jo",
      "\u{0}\u{1}\r\n\r\n",
    ] {
      let client = try UnixClient(daemon.socketPath)
      client.send(text)
      client.close()
    }
    #expect(try await daemon.curl("/v1/jobs").status == 200)
    #expect(try await daemon.jobs().isEmpty)
  }

  @Test("the event stream continues after Last-Event-ID without a gap")
  func eventStream() async throws {
    let daemon = try await Daemon()
    for name in ["a", "b"] { _ = try await daemon.addPaused(name) }
    let stream = try ChildProcess(daemon.curlLaunch("/v1/events", ["-i", "-H", "Last-Event-ID: 1"]))
    try await stream.waitForOutput("id: 2\n")
    _ = try await daemon.addPaused("c")
    try await stream.waitForOutput("id: 3\n")
    stream.kill(SIGTERM)
    let text = try await stream.result().stdout
    #expect(text.lowercased().contains("content-type: text/event-stream") && !text.contains("id: 1\n"))
    #expect(text.contains("event: added\ndata: {"))
    let history = try await daemon.curl("/v1/events?since=1&follow=false").body
    #expect(history.split(separator: "\n").count == 2)
    // An EventSource reconnects with its original URL.
    let again = try ChildProcess(daemon.curlLaunch("/v1/events?since=0", ["-H", "Last-Event-ID: 2"]))
    try await again.waitForOutput("id: 3\n")
    again.kill(SIGTERM)
    #expect(!(try await again.result().stdout.contains("id: 2\n")))
  }

  @Test("twenty watchers that connect at different times all get the history, event by event")
  func manyWatchers() async throws {
    let server = try LoopbackServer(.file(size: 100))
    let daemon = try await Daemon()
    var watchers: [ChildProcess] = []
    for round in 0..<4 {
      let list = (0..<50).map { server.url("/\(round)-\($0)") + "\n" }.joined()
      for _ in 0..<5 { watchers.append(try ChildProcess(daemon.curlLaunch("/v1/events?since=0", []))) }
      _ = try await daemon.ctl("add", "-i", "-", "--batch", "b", input: Data(list.utf8))
    }
    #expect(try await daemon.ctl("wait", "--batch", "b").status == 0)
    let history = try await daemon.curl("/v1/events?since=0&follow=false").body.split(separator: "\n")
    #expect(history.count == 200 * 3)
    for watcher in watchers {
      try await watcher.waitForOutput("id: \(history.count)\n")
      try await watcher.waitForOutput("\(history.last ?? "")\n")
      watcher.kill(SIGTERM)
      let lines = try await watcher.result().stdout.split(separator: "\n").filter { $0.hasPrefix("data: ") }
      #expect(lines.map { $0.dropFirst(6) } == history)
    }
  }

  @Test("progress is sent as often as the watcher wants")
  func progressInterval() async throws {
    let daemon = try await Daemon()
    let server = try LoopbackServer(.file(size: 8 << 20).dripping(bytesPerSecond: 64 << 10))
    let job = try await daemon.add(server.url("/a"))
    let first = try ChildProcess(daemon.curlLaunch("/v1/events?since=0&progress=true&jobs=\(job)", []))
    try await first.waitForOutput("event: progress\n")
    first.kill(SIGTERM)
    let path = "/v1/events?progress=true&jobs=\(job)"
    async let often = daemon.curl(path, "--max-time", "3")
    async let seldom = daemon.curl(path + "&every=3600", "--max-time", "3")
    #expect(try await often.body.components(separatedBy: "event: progress\n").count > 2)
    #expect(try await seldom.body.components(separatedBy: "event: progress\n").count == 2)
    for query in ["every=5", "progress=true&every=0", "progress=true&every=often"] {
      #expect(try await daemon.curl("/v1/events?\(query)").status == 400)
    }
  }

  @Test("the progress stream of a batch has only its own jobs")
  func batchProgress() async throws {
    let daemon = try await Daemon()
    let server = try LoopbackServer(.file(size: 8 << 20).dripping(bytesPerSecond: 64 << 10))
    let other = try await daemon.add(server.url("/a"))
    let ours = try await daemon.add(server.url("/b"), "--batch", "b")
    let stream = try ChildProcess(daemon.curlLaunch("/v1/events?since=0&progress=true&batch=b", []))
    for _ in 0..<3 { try await stream.waitForOutput("event: progress\n") }
    try await stream.waitForOutput("\"job\":\(ours)}\n")
    stream.kill(SIGTERM)
    #expect(!(try await stream.result().stdout.contains("\"job\":\(other)")))
  }
}
