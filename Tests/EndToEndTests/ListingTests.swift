import Foundation
import TestSupport
import Testing

/// `add --recursive` with real servers.
@Suite("whole directories", .timeLimit(.minutes(5))) struct ListingTests {
  /// The files of the tree, with their texts.
  private static let tree = [
    "a.txt": "one", "b c+d%.iso": "two", "sub/e.txt": "three", "sub/deep/f.iso": "four", "sub/deep/ä.txt": "five",
  ]

  private static func plant(_ tree: [String: String] = tree, in root: String) throws {
    for (path, text) in tree {
      let file = URL(fileURLWithPath: root + "/" + path)
      try FileManager.default.createDirectory(at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
      try Data(text.utf8).write(to: file)
    }
    try FileManager.default.createDirectory(
      at: URL(fileURLWithPath: root + "/empty"), withIntermediateDirectories: true)
  }

  /// The downloaded tree.
  private static func found(in root: String) throws -> [String: String] {
    var found: [String: String] = [:]
    for case let path as String in FileManager.default.enumerator(atPath: root) ?? .init() {
      var isDirectory: ObjCBool = false
      guard FileManager.default.fileExists(atPath: root + "/" + path, isDirectory: &isDirectory), !isDirectory.boolValue
      else { continue }
      found[path] = try String(contentsOfFile: root + "/" + path, encoding: .utf8)
    }
    return found
  }

  /// Downloads a directory and expects the whole tree.
  private func expectTree(_ daemon: Daemon, _ arguments: [String], at location: SourceLocation = #_sourceLocation)
    async throws
  {
    let result = try await daemon.run(["add", "--recursive", "--wait"] + arguments)
    #expect(result.status == 0, "\(result.stderr)", sourceLocation: location)
    #expect(result.lines.count == 1, sourceLocation: location)
    let found = try Self.found(in: daemon.downloads)
    #expect(found == Self.tree, "\(found)", sourceLocation: location)
    #expect(
      result.stderr.hasSuffix("6 jobs: 6 transferred, 0 unchanged, 0 skipped, 0 failed\n"), "\(result.stderr)",
      sourceLocation: location)
    let id = try #require(result.lines.first)
    let listing = try await daemon.job(id)
    #expect(listing.kind == "listing" && listing.batch == "listing-\(id)", sourceLocation: location)
    let jobs = try await daemon.jobs("--batch", "listing-\(id)")
    #expect(jobs.count == 6 && jobs.allSatisfy { $0.state == "completed" }, sourceLocation: location)
  }

  @Test("a tree comes from nginx's pages, whatever is in its names")
  func nginx() async throws {
    let nginx = try await Nginx(.init(directives: "autoindex on;"))
    try Self.plant(in: nginx.root + "/pub")
    let daemon = try await Daemon()
    try await expectTree(daemon, [nginx.url("/pub")])
    let history = try await daemon.ctl("events", "--format", "json").stdout
    #expect(history.contains("5 files in 4 directories"), "\(history)")
  }

  @Test(
    "a tree comes from Apache's pages, in each of their forms",
    arguments: [
      "None", "FancyIndexing Charset=UTF-8", "FancyIndexing HTMLTable XHTML NameWidth=* VersionSort FoldersFirst",
    ])
  func apache(indexOptions: String) async throws {
    let apache = try await Apache(indexOptions: indexOptions)
    try Self.plant(in: apache.root + "/pub")
    let daemon = try await Daemon()
    try await expectTree(daemon, [apache.url("/pub/")])
  }

  @Test("a tree comes from a WebDAV server")
  func webDAV() async throws {
    let peer = try await PythonPeer.webDAV()
    try Self.plant(in: peer.directory.path("www/pub"))
    let daemon = try await Daemon()
    try await expectTree(daemon, ["http://127.0.0.1:\(peer.port)/pub/"])
  }

  @Test("a tree comes from an S3 prefix, flat and directory by directory")
  func s3() async throws {
    let peer = try await PythonPeer.nanio()
    let keys = ["AWS_ACCESS_KEY_ID": S3Peer.accessKey, "AWS_SECRET_ACCESS_KEY": S3Peer.secretKey]
    let daemon = try await Daemon(environment: keys)
    let source = try daemon.directory.directory("source")
    try Self.plant(in: source)
    let upload = try await daemon.run([
      "upload", "--recursive", source, "--root", source, "--to", "s3://bucket/pub/", "--endpoint", peer.url(""),
      "--wait",
    ])
    #expect(upload.status == 0, "\(upload.stderr)")
    try await expectTree(daemon, ["s3://bucket/pub/", "--endpoint", peer.url("")])
    let other = try daemon.directory.directory("other")
    let result = try await daemon.run([
      "add", "--recursive", "--wait", "s3://bucket/pub", "--endpoint", peer.url(""), "-d", other, "--max-depth", "1",
    ])
    #expect(result.status == 0, "\(result.stderr)")
    #expect(try Self.found(in: other).keys.sorted() == ["a.txt", "b c+d%.iso", "sub/e.txt"])
  }

  @Test("a tree comes from an FTP server, with MLSD and with LIST", arguments: [[], ["MLSD"]])
  func ftp(_ unknown: [String]) async throws {
    var options = FTPServer.Options()
    options.unknownCommands = unknown
    let server = try await FTPServer(options)
    try Self.plant(in: server.root + "/pub")
    let daemon = try await Daemon()
    try await expectTree(daemon, [server.url("/pub/")])
  }

  @Test("a tree comes from an SFTP server; links are not followed")
  func sftp() async throws {
    let server = try await SSHServer()
    try Self.plant(in: server.root + "/pub")
    try FileManager.default.createSymbolicLink(atPath: server.root + "/pub/up", withDestinationPath: "..")
    let daemon = try await Daemon(
      environment: [
        "TRANSFERD_SSH_KNOWN_HOSTS": server.knownHosts, "TRANSFERD_SSH_PRIVATE_KEY": server.privateKey,
      ])
    try await expectTree(daemon, [server.url("sftp", server.root + "/pub")])
    let history = try await daemon.ctl("events", "--format", "json").stdout
    #expect(history.contains("5 files in 4 directories; 1 entry refused"), "\(history)")
  }

  @Test("globs and a depth choose files; exclude wins")
  func filters() async throws {
    let nginx = try await Nginx(.init(directives: "autoindex on;"))
    try Self.plant(in: nginx.root)
    let daemon = try await Daemon()
    let choices: [([String], [String])] = [
      (["--include", "*.txt"], ["a.txt", "sub/deep/ä.txt", "sub/e.txt"]),
      (["--include", "*.txt", "--include", "sub/**", "--exclude", "deep"], ["a.txt", "sub/e.txt"]),
      (["--max-depth", "0"], ["a.txt", "b c+d%.iso"]), (["--exclude", "**"], []),
      (["--exclude", "sub/*/*.iso", "--include", "*/**"], ["sub/deep/ä.txt", "sub/e.txt"]),
    ]
    for (number, (arguments, expected)) in choices.enumerated() {
      let directory = try daemon.directory.directory("d\(number)")
      let result = try await daemon.run(
        ["add", "--recursive", "--wait", nginx.url("/"), "-d", directory, "--batch", "b\(number)"] + arguments)
      #expect(result.status == 0, "\(result.stderr)")
      #expect(try Self.found(in: directory).keys.sorted() == expected, "\(arguments)")
    }
    let shown = try await daemon.curl("/v1/jobs/1").json["options"] as? [String: Any]
    #expect(shown?["include"] as? [String] == ["*.txt"] && shown?["recursive"] as? Bool == true)
    // An excluded directory is not even asked for.
    try await nginx.stop()
    #expect(nginx.targets("GET").count { $0 == "/sub/deep/" } == 2, "\(nginx.targets("GET"))")
  }

  @Test("with --if-changed a second run fetches only what changed")
  func ifChanged() async throws {
    let nginx = try await Nginx(.init(directives: "autoindex on;"))
    try Self.plant(["a": "1", "x/b": "2", "x/c": "3"], in: nginx.root)
    let daemon = try await Daemon()
    let arguments = ["add", "--recursive", "--if-changed", "--wait", nginx.url("/")]
    let first = try await daemon.run(arguments)
    #expect(first.stderr.hasSuffix("4 jobs: 4 transferred, 0 unchanged, 0 skipped, 0 failed\n"), "\(first.stderr)")
    try Data("changed".utf8).write(to: URL(fileURLWithPath: nginx.root + "/x/b"))
    try Data("new".utf8).write(to: URL(fileURLWithPath: nginx.root + "/x/d"))
    let second = try await daemon.run(arguments)
    #expect(second.stderr.hasSuffix("5 jobs: 3 transferred, 2 unchanged, 0 skipped, 0 failed\n"), "\(second.stderr)")
    #expect(try Self.found(in: daemon.downloads) == ["a": "1", "x/b": "changed", "x/c": "3", "x/d": "new"])
  }

  @Test("after kill -9 a listing goes on with the directory that it was at, and adds nothing twice")
  func kill() async throws {
    let (reached, proceed) = (Gate(), Gate())
    let isFirst = Watched(true)
    let names = (0..<2000).map { "f\($0)" }
    let server = try LoopbackServer { request in
      switch (request.method, request.path) {
      case ("PROPFIND", _): return .response(405)
      case ("GET", "/"): return Self.page(["x/", "y/", "top"])
      case ("GET", "/x/"): return Self.page(["in-x"])
      case ("GET", "/y/"):
        let body = Data(names.map { "<a href=\"\($0)\">f</a>\n" }.joined().utf8)
        guard isFirst.value else { return .response(200, headers: ["Content-Type": "text/html"], body: body) }
        isFirst.mutate { $0 = false }
        return [
          .status(200, headers: ["Content-Type": "text/html", "Content-Length": String(body.count)]),
          .body(body.prefix(body.count * 9 / 10)), .signal(reached), .waitFor(proceed),
        ]
      default: return .response(200, text: request.path)
      }
    }
    let daemon = try await Daemon()
    let id = try await daemon.add("--recursive", server.url("/"))
    try await reached.wait()
    try await eventually("a part of the directory to be stored") {
      try await daemon.jobs("--batch", "listing-\(id)").count > 500
    }
    try await daemon.kill9()
    try await daemon.start()
    #expect(try await daemon.run(["wait", "--batch", "listing-\(id)"]).status == 0)
    let jobs = try await daemon.jobs("--batch", "listing-\(id)")
    #expect(jobs.count == 2003 && Set(jobs.map(\.destination)).count == 2003)
    #expect(server.requests.count { $0.method == "GET" && $0.path == "/" } == 1)
    #expect(server.requests.count { $0.method == "GET" && $0.path == "/y/" } == 2)
    proceed.open()
  }

  /// A page with these links.
  static func page(_ links: [String]) -> Script {
    .response(
      200, headers: ["Content-Type": "text/html; charset=utf-8"],
      text: links.map { "<a href=\"\($0)\">x</a>\n" }.joined())
  }

  @Test("a bucket is listed page by page; after kill -9 the listing goes on with the page that it was at")
  func pages() async throws {
    let (reached, isFirst) = (Gate(), Watched(true))
    let server = try LoopbackServer { request in
      guard request.path == "/bucket/" else { return .response(200, headers: ["ETag": "\"x\""], text: request.path) }
      guard request.query?.contains("continuation-token=two%2F%2B") == true else {
        return Self.bucket(["a1", "a%202", "x/"], next: "two/+")
      }
      guard isFirst.value else { return Self.bucket(["x/b", "../c", "x//d"], next: nil) }
      isFirst.mutate { $0 = false }
      return [.signal(reached), .stall]
    }
    let daemon = try await Daemon(environment: ["AWS_ACCESS_KEY_ID": "key", "AWS_SECRET_ACCESS_KEY": "s3cret"])
    let id = try await daemon.add("--recursive", "s3://bucket/p/", "--endpoint", server.url(""))
    try await reached.wait()
    try await daemon.kill9()
    try await daemon.start()
    #expect(try await daemon.run(["wait", "--batch", "listing-\(id)"]).status == 0)
    #expect(
      try Self.found(in: daemon.downloads) == [
        "a1": "/bucket/p/a1", "a 2": "/bucket/p/a%202", "x/b": "/bucket/p/x/b",
      ])
    let lists = server.requests.filter { $0.path == "/bucket/" }
    #expect(lists.count == 3 && lists.allSatisfy { $0.query?.contains("prefix=p%2F") == true })
    #expect(server.requests.allSatisfy { $0.headers["Authorization"]?.contains("Credential=key/") == true })
    #expect(
      try await daemon.ctl("events", "--format", "json").stdout.contains("3 files in 1 directory; 2 entries refused"))
  }

  /// A page of a bucket with these keys below the prefix `p/`.
  private static func bucket(_ keys: [String], next: String?) -> Script {
    let contents = keys.map { "<Contents><Key>p/\($0)</Key></Contents>" }.joined()
    let end = next.map { "<NextContinuationToken>\($0)</NextContinuationToken>" } ?? ""
    return .response(
      200,
      text: "<?xml version=\"1.0\"?><ListBucketResult xmlns=\"http://s3.amazonaws.com/doc/2006-03-01/\">"
        + "<EncodingType>url</EncodingType><IsTruncated>\(next != nil)</IsTruncated>\(end)\(contents)</ListBucketResult>"
    )
  }

  @Test("a listing is paused in the middle of a directory, and goes on with it", arguments: [true, false])
  func pause(_ hasHead: Bool) async throws {
    let (reached, isFirst) = (Gate(), Watched(true))
    let server = try LoopbackServer { request in
      guard request.method == "GET" else { return .response(405) }
      guard request.path == "/" else { return .response(200, text: "x") }
      guard isFirst.value else { return Self.page(["a", "b"]) }
      isFirst.mutate { $0 = false }
      let head: Script.Step = .status(200, headers: ["Content-Type": "text/html", "Content-Length": "1000"])
      return Script((hasHead ? [head, .body(Data("<a href=a>".utf8))] : []) + [.signal(reached), .stall])
    }
    let daemon = try await Daemon()
    let id = try await daemon.add("--recursive", server.url("/"))
    try await reached.wait()
    #expect(try await daemon.run(["pause", id]).status == 0)
    try await daemon.reached("paused", by: id)
    #expect(try await daemon.run(["resume", id]).status == 0)
    #expect(try await daemon.run(["wait", "--batch", "listing-\(id)"]).status == 0)
    #expect(try Self.found(in: daemon.downloads).keys.sorted() == ["a", "b"])
  }

  @Test("links that lead elsewhere, loops and hostile names are refused with a count")
  func hostile() async throws {
    let server = try LoopbackServer { request in
      guard request.method == "GET" else { return .response(501) }
      if request.path.hasSuffix("/") {
        // Each directory has itself as a member, without end.
        return Self.page([
          "loop/", "../../etc/passwd", "/etc/passwd", "http://127.0.0.1:9/x", "..%2f..%2fx", "a%00b", "%1b[2J", "file",
          String(repeating: "y", count: 10 << 20), "?C=N", "../",
        ])
      }
      return .response(200, text: "content")
    }
    let daemon = try await Daemon()
    let result = try await daemon.run([
      "add", "--recursive", "--wait", server.url("/pub/"), "--max-depth", "2",
    ])
    #expect(result.status == 0, "\(result.stderr)")
    #expect(try Self.found(in: daemon.downloads).keys.sorted() == ["file", "loop/file", "loop/loop/file"])
    let history = try await daemon.ctl("events", "--format", "json").stdout
    #expect(history.contains("3 files in 3 directories; 21 entries refused"), "\(history)")
  }

  @Test("a directory that cannot be listed fails the listing at its end, and retry asks for that one again")
  func failures() async throws {
    let isFixed = Watched(false)
    let server = try LoopbackServer { request in
      switch (request.method, request.path) {
      case ("PROPFIND", _): return .response(405)
      case (_, "/"): return Self.page(["closed/", "open/"])
      case (_, "/closed/"): return isFixed.value ? Self.page(["b"]) : .response(403)
      case (_, "/open/"): return Self.page(["a"])
      default: return .response(200, text: "x")
      }
    }
    let daemon = try await Daemon()
    let result = try await daemon.run(["add", "--recursive", "--wait", server.url("/")])
    #expect(result.status == 1)
    let id = try #require(result.lines.first)
    let job = try await daemon.job(id)
    #expect(job.state == "failed" && job.error?.code == "http-403")
    #expect(try Self.found(in: daemon.downloads).keys.sorted() == ["open/a"])
    isFixed.mutate { $0 = true }
    #expect(try await daemon.run(["retry", id]).status == 0)
    #expect(try await daemon.run(["wait", "--batch", "listing-\(id)"]).status == 0)
    #expect(try Self.found(in: daemon.downloads).keys.sorted() == ["closed/b", "open/a"])
    #expect(server.requests.count { $0.path == "/open/" && $0.method == "GET" } == 1)
  }

  @Test("a server that ends the connection at PROPFIND is asked for its page")
  func reset() async throws {
    let server = try LoopbackServer { request in
      if request.method == "PROPFIND" { return [.reset] }
      return request.path == "/" ? Self.page(["a"]) : .response(200, text: "x")
    }
    let daemon = try await Daemon()
    let id = try await daemon.add("--recursive", server.url("/"))
    #expect(try await daemon.run(["wait", "--batch", "listing-\(id)"]).status == 0)
    #expect(try Self.found(in: daemon.downloads) == ["a": "x"])
    let job = try await daemon.job(id)
    #expect(job.attempt <= 1)
  }

  @Test("what is no list of a directory, a redirect and a missing directory fail with a reason")
  func notListable() async throws {
    let server = try LoopbackServer { request in
      switch request.path {
      case "/file/": .response(200, headers: ["Content-Type": "application/octet-stream"], text: "<a href=x>")
      case "/moved/": .redirect(to: "/other/", status: 301)
      default: .response(404)
      }
    }
    let daemon = try await Daemon()
    for (path, code, words) in [
      ("/file/", "protocol", "no list of a directory"), ("/moved", "redirect-refused", "/other/"),
      ("/none/", "http-404", "404"),
    ] {
      let job = try await daemon.finished(try await daemon.add("--recursive", server.url(path)))
      #expect(job.state == "failed" && job.error?.code == code, "\(String(describing: job.error))")
      #expect(job.error?.message.contains(words) == true, "\(String(describing: job.error))")
    }
  }

  @Test("a listing is exported and imported, and pauses like other jobs")
  func control() async throws {
    let nginx = try await Nginx(.init(directives: "autoindex on;"))
    try Self.plant(in: nginx.root)
    let daemon = try await Daemon()
    let id = try await daemon.add(
      "--recursive", nginx.url("/"), "--paused", "--exclude", "*.iso", "--max-depth", "5", "--batch", "mine")
    #expect(try await daemon.job(id).state == "paused")
    let line = try await daemon.ctl("export", id).stdout
    let other = try await Daemon()
    let imported = try await other.run(["import", "-"], input: Data(line.utf8))
    #expect(imported.status == 0, "\(line) \(imported.stderr)")
    let job = try await other.job(imported.lines[0])
    #expect(job.kind == "listing" && job.state == "paused" && job.batch == "mine")
    #expect(try await other.run(["resume", imported.lines[0]]).status == 0)
    #expect(try await other.run(["wait", "--batch", "mine"]).status == 0)
    #expect(try Self.found(in: daemon.downloads).count == 3)
    #expect(try await daemon.run(["set", id, "--url", "http://127.0.0.1:9/"]).status == 64)
    let posted = try await daemon.curl(
      "/v1/jobs", "-d",
      #"{"source":"\#(nginx.url("/"))","directory":"\#(daemon.downloads)","recursive":true,"paused":true}"#)
    #expect(posted.status == 201)
  }

  @Test(
    "what means nothing is a usage error",
    arguments: [
      ["https://h.example/d/", "--include", "*"], ["https://h.example/d/", "--max-depth", "1"],
      ["--recursive", "https://h.example/d/", "-o", "x"], ["--recursive", "https://h.example/d/", "-J"],
      ["--recursive", "https://h.example/d/", "--checksum", "md5=00000000000000000000000000000000"],
      ["--recursive", "https://h.example/d/", "--include", "[a"],
      ["--recursive", "https://h.example/d/", "--max-depth", "-1"],
      ["--recursive", "https://h.example/d/", "--max-depth", "101"], ["--recursive", "scp://h.example/d/"],
      ["--recursive", "https://h.example/d/?x=1"], ["--recursive", "https://h.example/d/", "--dry-run"],
      ["--recursive", "https://h.example/d/", "--url-from", "env:A"],
      ["--recursive", "https://h.example/d/", "--if-changed", "--key", "k"],
      ["--recursive", "https://h.example/d/", "https://h.example/e/", "--wait"],
      ["--recursive", "https://h.example/d/", "--endpoint", "https://s3.example"],
    ])
  func usage(_ arguments: [String]) async throws {
    let daemon = try await Daemon()
    let result = try await daemon.run(["add"] + arguments)
    #expect(result.status == 64 && result.stdout.isEmpty, "\(result.status) \(result.stderr)")
  }
}
