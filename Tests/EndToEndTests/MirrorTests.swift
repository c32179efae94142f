import Foundation
import TestSupport
import Testing

/// --mirror and --metalink: one file from several servers.
@Suite("mirrors", .timeLimit(.minutes(5))) struct MirrorTests {
  private func sources(of id: String, _ daemon: Daemon) async throws -> [[String: Any]] {
    try await daemon.curl("/v1/jobs/\(id)").json["sources"] as? [[String: Any]] ?? []
  }

  private func metalink(_ payload: Payload, pieceLength: Int64, _ urls: [String], name: String = "a.bin") -> String {
    var pieces = ""
    for start in stride(from: 0, to: payload.size, by: Int64.Stride(pieceLength)) {
      let piece = Payload(payload.bytes(start..<min(start + pieceLength, payload.size)))
      pieces += "<hash>\(piece.sha256)</hash>"
    }
    let places = urls.enumerated().map { "<url priority=\"\($0.offset + 1)\">\($0.element)</url>" }.joined()
    return """
      <?xml version="1.0" encoding="UTF-8"?>
      <metalink xmlns="urn:ietf:params:xml:ns:metalink"><file name="\(name)"><size>\(payload.size)</size>
      <hash type="sha-256">\(payload.sha256)</hash><pieces type="sha-256" length="\(pieceLength)">\(pieces)</pieces>\(places)
      </file></metalink>
      """
  }

  @Test("a source that fails is dropped with its reason, the mirror has the file, and secrets stay where they belong")
  func fails() async throws {
    let payload = Payload(size: 300_000, seed: 21)
    let own = try LoopbackServer(.file(payload).failing(404))
    let mirror = try LoopbackServer(.file(payload))
    let daemon = try await Daemon()
    let id = try await daemon.add(
      own.url("/a"), "-o", "a", "--mirror", mirror.url("/b?token=s3cret"), "--header", "Authorization: Bearer s3cret")
    try await daemon.expectCompleted(id, payload, as: "a")
    let sources = try await sources(of: id, daemon)
    #expect(sources.map { $0["state"] as? String } == ["dropped", "used"])
    #expect(sources[0]["url"] as? String == own.url("/a"))
    #expect((sources[0]["reason"] as? String)?.contains("404") ?? false)
    #expect(sources[1]["reason"] is NSNull && sources[1]["bytesReceived"] as? Int64 == payload.size)
    let shown = try await daemon.ctl("show", id).stdout
    #expect(shown.contains("dropped") && shown.contains("404") && !shown.contains("s3cret"), "\(shown)")
    let options = try await daemon.curl("/v1/jobs/\(id)").json["options"] as? [String: Any]
    #expect(options?["mirrors"] as? [String] == [mirror.url("/b?token=***")])
    #expect(mirror.requests.allSatisfy { $0.headers["Authorization"] == nil && $0.target.contains("s3cret") })
    // What was found out outlives the daemon.
    try await daemon.restart()
    #expect(try await self.sources(of: id, daemon).map { $0["state"] as? String } == ["dropped", "used"])
  }

  @Test("the job fails with the error of its own server when no source is left")
  func none() async throws {
    let own = try LoopbackServer(.file(size: 10).failing(404))
    let mirror = try LoopbackServer(.file(size: 10).failing(410))
    let daemon = try await Daemon()
    let result = try await daemon.run([
      "add", own.url("/a"), "-d", daemon.downloads, "--mirror", mirror.url("/a"), "--wait",
    ])
    #expect(result.status == 1 && result.stderr.contains("http-404"), "\(result.stderr)")
    let id = try #require(result.lines.first)
    #expect(try await sources(of: id, daemon).map { $0["state"] as? String } == ["dropped", "dropped"])
  }

  @Test("two servers fetch one file together; after kill -9 the mirror alone goes on, and nothing is wrong")
  func kill() async throws {
    let payload = Payload(size: 32 << 20, seed: 22)
    let stop = Gate()
    let isDead = Watched(false)
    let first = FileBehaviour.file(payload).holding(after: 4 << 20, until: stop, on: .always).handler()
    let own = try LoopbackServer { request in isDead.value ? .response(404) : first(request) }
    // What is compared is short.
    let isLong = When { request, _ in !isDead.value && request.range(of: payload.size)?.count ?? .max > 1 << 16 }
    let second = FileBehaviour.file(payload).etag("\"other\"").holding(after: 4 << 20, until: stop, on: isLong)
      .handler()
    let mirror = try LoopbackServer { request in second(request) }
    let daemon = try await Daemon()
    let id = try await daemon.add(
      own.url("/a"), "-o", "a", "--mirror", mirror.url("/a"), "--checksum", "sha-256=\(payload.sha256)")
    try await daemon.waitForBytes(8 << 20, of: id)
    #expect(try await sources(of: id, daemon).map { $0["state"] as? String } == ["active", "active"])
    try await daemon.kill9()
    isDead.mutate { $0 = true }
    let before = mirror.requests.count
    try await daemon.start()
    try await daemon.expectCompleted(id, payload, as: "a")
    // Every request goes on with bytes that are on disk.
    #expect(mirror.requests.dropFirst(before).allSatisfy { $0.range != nil })
    #expect(try daemon.directory.names(in: "downloads") == ["a"])
    let sources = try await sources(of: id, daemon)
    #expect(sources.map { $0["state"] as? String } == ["dropped", "used"])
    #expect(sources[1]["bytesReceived"] as? Int64 ?? .max < 26 << 20)
  }

  @Test("mirrors in JSON, in exports and from aria2's lists, kept over a restart; mistakes are named")
  func json() async throws {
    let daemon = try await Daemon()
    let list = try daemon.directory.file("list", text: "http://127.0.0.1:9/a\thttp://127.0.0.1:9/b\n  out=x\n")
    let fromList = try #require(
      try await daemon.run(["add", "--paused", "-d", daemon.downloads, "-i", list]).lines.first)
    let body =
      #"{"url":"http://127.0.0.1:9/a","destination":"\#(daemon.downloads)/y","mirrors":["http://127.0.0.1:9/b"],"paused":true}"#
    #expect(try await daemon.curl("/v1/jobs", "-d", body).status == 201)
    try await daemon.restart()
    for id in [fromList, "2"] {
      let json = try await daemon.curl("/v1/jobs/\(id)").json
      #expect((json["options"] as? [String: Any])?["mirrors"] as? [String] == ["http://127.0.0.1:9/b"])
      #expect(try await sources(of: id, daemon).map { $0["state"] as? String } == ["unused", "unused"])
    }
    #expect(try await daemon.ctl("export", "2").stdout.contains(#""mirrors":["http://127.0.0.1:9/b"]"#))
    for arguments in [
      ["http://127.0.0.1:9/c", "--mirror", "ftp://h/c"], ["http://127.0.0.1:9/c", "--mirror", ""],
      ["http://127.0.0.1:9/c", "http://127.0.0.1:9/d", "--mirror", "http://h/c"],
      ["ftp://127.0.0.1:9/c", "--mirror", "http://h/c"],
      ["http://127.0.0.1:9/c", "--mirror", "http://h/c", "--if-changed"],
      ["-i", list, "--mirror", "http://h/c"],
    ] {
      let result = try await daemon.run(["add", "-d", daemon.downloads] + arguments)
      #expect(result.status == 64 && !result.stderr.isEmpty && result.stdout.isEmpty, "\(arguments) \(result.stderr)")
    }
    let bad = #"{"url":"http://127.0.0.1:9/a","destination":"\#(daemon.downloads)/z","mirrors":["file:///etc/passwd"]}"#
    #expect(try await daemon.curl("/v1/jobs", "-d", bad).status == 400)
  }

  @Test("a Metalink's file comes from its mirrors; the one with wrong pieces is dropped", arguments: [false, true])
  func metalink(isURL: Bool) async throws {
    let payload = Payload(size: 8 << 20, seed: 23)
    var spoiled = payload.data
    for piece in 1..<8 { spoiled[piece << 20 | 0xF0000] ^= 0xFF }
    let wrong = try LoopbackServer(.file(Payload(spoiled)))
    let right = try LoopbackServer(.file(payload))
    let document = metalink(payload, pieceLength: 1 << 20, [wrong.url("/x"), right.url("/y")], name: "sub/a.bin")
    let page = try LoopbackServer { _ in .response(200, body: Data(document.utf8)) }
    let daemon = try await Daemon()
    let place = isURL ? page.url("/a.meta4") : try daemon.directory.file("a.meta4", text: document)
    let result = try await daemon.run(
      ["add", "--metalink", place, "-d", daemon.downloads, "--create-dirs", "--wait"])
    #expect(result.status == 0 && result.lines.count == 1, "\(result.stderr)")
    let id = try #require(result.lines.first)
    #expect(try sha256(ofFile: daemon.downloaded("sub/a.bin")) == payload.sha256)
    #expect(try daemon.directory.names(in: "downloads/sub") == ["a.bin"])
    let json = try await daemon.curl("/v1/jobs/\(id)").json
    #expect(json["checksum"] as? String == "sha-256=\(payload.sha256)")
    let sources = try await sources(of: id, daemon)
    #expect(sources[0]["state"] as? String == "dropped")
    #expect((sources[0]["reason"] as? String)?.contains("wrong bytes") ?? false, "\(sources[0])")
    #expect(try await daemon.jobs().count == 1)
  }

  @Test("a Metalink that cannot be used adds nothing, and says why")
  func unusable() async throws {
    let daemon = try await Daemon()
    let payload = Payload(size: 10)
    let unsafe = try daemon.directory.file(
      "unsafe", text: metalink(payload, pieceLength: 1024, ["http://127.0.0.1:9/a"], name: "../../evil"))
    let old = try daemon.directory.file("old", text: "<metalink version=\"3.0\" xmlns=\"http://www.metalinker.org/\"/>")
    let good = try daemon.directory.file("good", text: metalink(payload, pieceLength: 1024, ["http://127.0.0.1:9/a"]))
    for (arguments, reason) in [
      (["--metalink", unsafe], "refuses the file name"), (["--metalink", old], "version 3"),
      (["--metalink", good, "http://127.0.0.1:9/b"], "leave out other URLs"),
      (["--metalink", good, "--checksum", "md5=00112233445566778899aabbccddeeff"], "--checksum"),
      (["--metalink", good, "--mirror", "http://h/"], "--mirror"), (["--metalink", good, "-J"], "-J"),
      (["--metalink", good, "-i", "x"], "-i"), (["--metalink", ""], "empty"),
    ] {
      let result = try await daemon.run(["add", "-d", daemon.downloads] + arguments)
      #expect(result.status == 64 && result.stderr.contains(reason), "\(arguments): \(result.stderr)")
    }
    #expect(try await daemon.jobs().isEmpty)
    let dry = try await daemon.run(["add", "-d", daemon.downloads, "--metalink", good, "--dry-run"])
    #expect(dry.status == 0 && dry.stdout == "http://127.0.0.1:9/a\t\(daemon.downloads)/a.bin\n", "\(dry.stdout)")
  }
}
