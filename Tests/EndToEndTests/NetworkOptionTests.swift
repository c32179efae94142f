import Foundation
import Glibc
import TestSupport
import Testing

/// How a job reaches its server: proxies, certificates, cookies, addresses, versions.
@Suite("network options", .timeLimit(.minutes(5))) struct NetworkOptionTests {
  private static let closed = "https://127.0.0.1:9"

  private static func server() throws -> LoopbackServer {
    try LoopbackServer { request in
      request.method == "PUT"
        ? .response(201) : .response(200, body: Data("cookie: \(request.headers["Cookie"] ?? "none")".utf8))
    }
  }

  /// nginx with TLS that returns what it knows of the client.
  private static func secure(_ certificates: TestCertificates) async throws -> Nginx {
    try await Nginx(
      .init(
        certificates: certificates, http2: true,
        directives: """
          ssl_client_certificate \(certificates.authority); ssl_verify_client optional;
          location / { return 200 "$ssl_client_verify $server_protocol"; }
          """))
  }

  private static func content(_ daemon: Daemon, _ name: String) -> String? {
    try? String(contentsOfFile: daemon.downloads + "/" + name, encoding: .utf8)
  }

  // MARK: Proxies

  @Test("a job goes through its proxy, whose password is looked up at each attempt, and shows no password")
  func proxy() async throws {
    let server = try Self.server()
    let proxy = try await Tinyproxy(credentials: (user: "me", password: "s3cret"))
    let daemon = try await Daemon(environment: ["PROXY_LOGIN": "me:s3cret"])
    let address = "http://127.0.0.1:\(proxy.port)"
    let byReference = try await daemon.ctl(
      "add", server.url("/reference"), "-d", daemon.downloads, "--proxy", address, "--proxy-credentials",
      "env:PROXY_LOGIN", "--wait")
    #expect(byReference.status == 0, "\(byReference.stderr)")
    let withPassword = "http://me:s3cret@127.0.0.1:\(proxy.port)"
    let inURL = try await daemon.ctl(
      "add", server.url("/url"), "-d", daemon.downloads, "--proxy", withPassword, "--wait")
    #expect(inURL.status == 0, "\(inURL.stderr)")
    let source = try daemon.source("up", Payload(size: 10))
    let upload = try await daemon.ctl(
      "upload", source, "--to", server.url("/up"), "--proxy", withPassword, "--wait")
    #expect(upload.status == 0, "\(upload.stderr)")
    for path in ["/reference", "/url", "/up"] { #expect(proxy.log.contains(path), "\(path)") }

    let id = try #require(inURL.lines.first)
    for text in [
      try await daemon.ctl("show", id).stdout, try await daemon.ctl("export", id).stdout,
      try await daemon.curl("/v1/jobs/\(id)").body, try await daemon.ctl("events", id).stdout,
    ] {
      #expect(!text.contains("s3cret"), "\(text)")
    }
    let shown = try await daemon.ctl("show", id)
    #expect(shown.stdout.contains(address), "\(shown.stdout)")
    let stopped = try await daemon.terminate()
    #expect(!stopped.log.contains("s3cret"))
  }

  @Test("a proxy without the right password fails the job, and says so")
  func proxyLogin() async throws {
    let server = try Self.server()
    let proxy = try await Tinyproxy(credentials: (user: "me", password: "s3cret"))
    let daemon = try await Daemon()
    let result = try await daemon.ctl(
      "add", server.url("/a"), "-d", daemon.downloads, "--proxy", "http://127.0.0.1:\(proxy.port)", "--wait")
    #expect(result.status == 1 && result.stderr.contains("requires authentication"), "\(result.stderr)")
    #expect(server.requests.isEmpty)
  }

  @Test("socks5 and socks5h proxies work, also after a restart of the daemon")
  func socks() async throws {
    let server = try Self.server()
    let proxy = try await Microsocks(credentials: ("me", "secret"))
    let daemon = try await Daemon()
    for kind in ["socks5", "socks5h"] {
      let id = try await daemon.add(
        server.url("/\(kind)"), "-d", daemon.downloads, "--paused", "--proxy",
        "\(kind)://me:secret@127.0.0.1:\(proxy.port)")
      try await daemon.restart()
      _ = try await daemon.ctl("resume", id)
      #expect(try await daemon.ctl("wait", id).status == 0)
    }
    #expect(server.requests.count == 2)
    try await proxy.waitForLog("connected to 127.0.0.1:\(server.port)")
  }

  @Test("the configured proxy is used for all jobs but those that name another or none, and changes with a reload")
  func configured() async throws {
    let server = try Self.server()
    let proxy = try await Tinyproxy()
    let config = "transferd:\n  proxy: http://127.0.0.1:\(proxy.port)\n"
    let daemon = try await Daemon(config: config)
    func fetch(_ name: String, _ options: String...) async throws {
      let result = try await daemon.run(["add", server.url("/\(name)"), "-d", daemon.downloads, "--wait"] + options)
      #expect(result.status == 0, "\(result.stderr)")
    }
    try await fetch("configured")
    try await fetch("none", "--proxy", "none")
    #expect(proxy.log.contains("/configured") && !proxy.log.contains("/none"))
    // Repeated in a group: many small jobs of one list.
    let list = (0..<20).map { server.url("/list\($0)") }.joined(separator: "\n")
    let added = try await daemon.run(["add", "-i", "-", "-d", daemon.downloads, "--wait"], input: Data(list.utf8))
    #expect(added.status == 0, "\(added.stderr)")
    for number in 0..<20 { #expect(proxy.log.contains("/list\(number) ") || proxy.log.contains("/list\(number)\n")) }

    try (config + "  noProxy: [127.0.0.0/8]\n").write(
      toFile: daemon.directory.path("config.yaml"), atomically: true, encoding: .utf8)
    #expect(try await daemon.ctl("daemon", "reload").status == 0)
    try await fetch("excepted")
    #expect(!proxy.log.contains("/excepted"))
  }

  @Test("the proxies of the environment are used only if the configuration says so")
  func environment() async throws {
    let server = try Self.server()
    let proxy = try await Tinyproxy()
    let variables = ["http_proxy": "http://127.0.0.1:\(proxy.port)"]
    for (setting, isUsed) in [("none", false), ("environment", true)] {
      let daemon = try await Daemon(environment: variables.merging(["TRANSFERD_PROXY": setting]) { $1 })
      let result = try await daemon.ctl("add", server.url("/\(setting)"), "-d", daemon.downloads, "--wait")
      #expect(result.status == 0, "\(result.stderr)")
      #expect(proxy.log.contains("/\(setting)") == isUsed)
    }
  }

  // MARK: Certificates

  @Test(
    "--ca, --cert and --cert-key are read at each attempt; --insecure is said in show, in the history and in a metric")
  func certificates() async throws {
    let certificates = try await TestCertificates()
    let client = try await certificates.client()
    let nginx = try await Self.secure(certificates)
    let daemon = try await Daemon()
    func fetch(_ name: String, _ options: String...) async throws -> ChildProcess.Result {
      try await daemon.run(["add", nginx.url("/\(name)"), "-d", daemon.downloads, "--wait"] + options)
    }
    let refused = try await fetch("refused")
    #expect(refused.status == 1)
    #expect(try await daemon.ctl("show", refused.lines[0]).stdout.contains("(tls)"))
    #expect(try await fetch("ca", "--ca", certificates.authority).status == 0)
    #expect(Self.content(daemon, "ca") == "NONE HTTP/2.0")
    let presented = try await fetch(
      "cert", "--ca", certificates.authority, "--cert", client.certificate, "--cert-key", client.key, "--http1.1")
    #expect(presented.status == 0, "\(presented.stderr)")
    #expect(Self.content(daemon, "cert") == "SUCCESS HTTP/1.1")

    let insecure = try await fetch("insecure", "--insecure")
    #expect(insecure.status == 0, "\(insecure.stderr)")
    let id = insecure.lines[0]
    #expect(try await daemon.ctl("show", id).stdout.contains("insecure:"))
    #expect((try await daemon.curl("/v1/jobs/\(id)").json["options"] as? [String: Any])?["insecure"] as? Bool == true)
    #expect(try await daemon.ctl("events", id).stdout.contains("the server's certificate is not checked"))
    #expect(try await daemon.curl("/metrics").body.contains("transferd_insecure_attempts_total 1\n"))
    // The connection without a check must not be used by others.
    #expect(try await fetch("again").status == 1)

    // The file is read when the attempt begins.
    let authority = try daemon.directory.file(
      "own-ca.pem", text: try String(contentsOfFile: certificates.authority, encoding: .utf8))
    let later = try await daemon.add(nginx.url("/later"), "-d", daemon.downloads, "--ca", authority, "--paused")
    let other = try await TestCertificates()
    try FileManager.default.removeItem(atPath: authority)
    try FileManager.default.copyItem(atPath: other.authority, toPath: authority)
    _ = try await daemon.ctl("resume", later)
    #expect(try await daemon.ctl("wait", later).status == 1)
    #expect(try await daemon.job(later).error?.code == "tls")
  }

  @Test("a certificate without its own key does not use a connection that was made with that key")
  func foreignKey() async throws {
    let (certificates, others) = (try await TestCertificates(), try await TestCertificates())
    let (client, stranger) = (try await certificates.client(), try await others.client())
    let nginx = try await Self.secure(certificates)
    let daemon = try await Daemon()
    func fetch(_ name: String, key: String) async throws -> ChildProcess.Result {
      try await daemon.run([
        "add", nginx.url("/\(name)"), "-d", daemon.downloads, "--ca", certificates.authority, "--cert",
        client.certificate, "--cert-key", key, "--wait",
      ])
    }
    #expect(try await fetch("first", key: client.key).status == 0)
    #expect(Self.content(daemon, "first")?.hasPrefix("SUCCESS") == true)
    let refused = try await fetch("second", key: stranger.key)
    #expect(refused.status == 1 && refused.stderr.contains("(tls)"), "\(refused.stderr)")
    #expect(Self.content(daemon, "second") == nil)
    #expect(try await fetch("third", key: client.key).status == 0)
    // It deletes its files in the end.
    withExtendedLifetime(others) {}
  }

  @Test("an upload presents its certificate")
  func uploadCertificate() async throws {
    let certificates = try await TestCertificates()
    let client = try await certificates.client()
    let nginx = try await Nginx(
      .init(
        certificates: certificates, uploads: true,
        directives: "ssl_client_certificate \(certificates.authority); ssl_verify_client on;"))
    let daemon = try await Daemon()
    let source = try daemon.source("a", Payload(size: 100))
    let result = try await daemon.ctl(
      "upload", source, "--to", nginx.url("/up/"), "--protocol", "plain", "--ca", certificates.authority, "--cert",
      client.certificate,
      "--cert-key", client.key, "--wait")
    #expect(result.status == 0, "\(result.stderr)")
  }

  // MARK: Cookies, addresses, statuses

  @Test("cookies of a file are sent to their hosts, and a changed file counts for the next attempt")
  func cookies() async throws {
    let server = try Self.server()
    let daemon = try await Daemon()
    func line(_ domain: String, _ name: String) -> String { "\(domain)\tTRUE\t/\tFALSE\t0\t\(name)\ts3cret\n" }
    let file = try daemon.directory.file(
      "cookies.txt",
      text: line("127.0.0.1", "first") + line("other.example", "second") + line("127.0.0.1", "more"))
    let result = try await daemon.ctl("add", server.url("/a"), "-d", daemon.downloads, "--cookies", file, "--wait")
    #expect(result.status == 0, "\(result.stderr)")
    #expect(Self.content(daemon, "a") == "cookie: first=s3cret; more=s3cret")
    let later = try await daemon.add(server.url("/b"), "-d", daemon.downloads, "--cookies", file, "--paused")
    try daemon.directory.file("cookies.txt", text: line("127.0.0.1", "third"))
    _ = try await daemon.ctl("resume", later)
    #expect(try await daemon.ctl("wait", later).status == 0)
    #expect(Self.content(daemon, "b") == "cookie: third=s3cret")
    #expect(!(try await daemon.ctl("show", later).stdout.contains("s3cret")))
  }

  @Test("a host is reached at the given address, over the given version of IP")
  func addresses() async throws {
    let server = try Self.server()
    let daemon = try await Daemon()
    let url = "http://name.invalid:\(server.port)/a"
    let result = try await daemon.ctl(
      "add", url, "-d", daemon.downloads, "--resolve", "name.invalid:\(server.port):127.0.0.1", "-4", "--wait")
    #expect(result.status == 0, "\(result.stderr)")
    #expect(server.requests.last?.headers["Host"] == "name.invalid:\(server.port)")
    let six = try await daemon.ctl(
      "add", server.url("/six"), "-d", daemon.downloads, "-6", "--retries", "0", "--wait")
    #expect(six.status == 1)
    // The address was for that job only.
    let plain = try await daemon.ctl("add", url, "-d", daemon.downloads, "-o", "b", "--retries", "0", "--wait")
    #expect(plain.status == 1)
    let options = try await daemon.curl("/v1/jobs/\(result.lines[0])").json["options"] as? [String: Any]
    #expect(options?["ipVersion"] as? Int == 4)
    #expect(options?["resolve"] as? [String] == ["name.invalid:\(server.port):127.0.0.1"])
  }

  @Test("a status of --retry-status is tried again")
  func retryStatus() async throws {
    let server = try LoopbackServer { request in
      request.index < 2 ? .response(404) : .response(200, body: Data("x".utf8))
    }
    let daemon = try await Daemon()
    let result = try await daemon.ctl(
      "add", server.url("/a"), "-d", daemon.downloads, "--retry-status", "423,404", "--wait")
    #expect(result.status == 0, "\(result.stderr)")
    #expect(server.requests.count == 3)
  }

  @Test(
    "a URL on another server drops the client certificate and insecure; an export names the proxy's password as left out"
  )
  func moved() async throws {
    let certificates = try await TestCertificates()
    let client = try await certificates.client()
    let daemon = try await Daemon()
    let id = try await daemon.add(
      Self.closed + "/a", "-d", daemon.downloads, "--paused", "--cert", client.certificate, "--cert-key", client.key,
      "--insecure", "--proxy", "http://me:s3cret@127.0.0.1:9")
    let exported = try await daemon.ctl("export", id)
    #expect(exported.stdout.contains("user name and password of the proxy"), "\(exported.stdout)")
    #expect(!exported.stdout.contains("s3cret"))
    let refused = try await daemon.ctl("set", id, "--url", "sftp://127.0.0.1/a")
    #expect(refused.status == 64 && refused.stderr.contains("insecure is for"), "\(refused.stderr)")
    let moved = try await daemon.ctl("set", id, "--url", "https://localhost:9/a")
    #expect(moved.status == 0 && moved.stderr.contains("certificate"), "\(moved.stderr)")
    let options = try await daemon.curl("/v1/jobs/\(id)").json["options"] as? [String: Any]
    #expect(options?["cert"] == nil && options?["certKey"] == nil && options?["insecure"] as? Bool == false)
    #expect(try await daemon.ctl("events", id).stdout.contains("dropped the client certificate"))
    withExtendedLifetime(certificates) {}
  }

  // MARK: Mistakes

  @Test(
    "a mistake is named before a job exists",
    arguments: [
      (["--proxy", "127.0.0.1:3128"], 64, "http://HOST:PORT"), (["--proxy", "ftp://h"], 64, "not ftp"),
      (["--proxy-credentials", "env:A"], 64, "name it with --proxy"), (["--proxy", "http://h/x"], 64, "has a path"),
      (["--cookies", "/nonexistent/c"], 1, "/nonexistent/c"), (["--ca", "/nonexistent/c"], 1, "/nonexistent/c"),
      (["--ca", "/etc/passwd"], 64, "no PEM certificate"), (["--cookies", "/etc/passwd"], 64, "line 1"),
      (["--cert", "CLIENT"], 64, "--cert-key"), (["--cert-key", "CLIENT"], 64, "which is missing"),
      (["--cert", "CLIENT", "--key", "CLIENT"], 64, "did you mean --cert-key?"),
      (["--insecure", "--ca", "CLIENT"], 64, "give one of them"), (["-4", "-6"], 64, "exclude each other"),
      (["--resolve", "host:443"], 64, "HOST:PORT:ADDRESS"), (["--resolve", "h:443:name"], 64, "IPv4 or IPv6"),
      (["--retry-status", "200"], 64, "from 400 to 599"), (["--retry-status", "404,,"], 64, "from 400 to 599"),
      (["--cookies", "CLIENT", "--header", "Cookie: a=b"], 64, "given twice"), (["--prox", "none"], 64, "--proxy"),
    ] as [([String], Int32, String)])
  func mistakes(_ options: [String], _ status: Int32, _ words: String) async throws {
    let certificates = try await TestCertificates()
    let client = try await certificates.client()
    let daemon = try await Daemon()
    let options = options.map { $0 == "CLIENT" ? client.certificate : $0 }
    let result = try await daemon.run(["add", Self.closed + "/a", "-d", daemon.downloads] + options)
    #expect(result.status == status && result.stderr.contains(words), "\(result.status) \(result.stderr)")
    #expect(result.stdout.isEmpty)
    #expect(try await daemon.jobs().isEmpty)
    withExtendedLifetime(certificates) {}
  }

  // MARK: Members

  @Test(
    "members name files in their directories only, and never choose the way to a server",
    .enabled(if: SharedDaemon.isPossible, "\(SharedDaemon.requirement)"))
  func members() async throws {
    let server = try Self.server()
    let shared = try await SharedDaemon()
    let directory = shared.daemon.directory
    let own = try directory.file("alice/cookies", text: "127.0.0.1\tTRUE\t/\tFALSE\t0\town\t1\n")
    let hidden = try directory.file("home/cookies", text: "127.0.0.1\tTRUE\t/\tFALSE\t0\thidden\t1\n")
    let target = directory.path("alice/a")
    func add(_ more: String, as person: SharedDaemon.Person) async throws -> SharedDaemon.Answer {
      let body = #"{"source":"\#(server.url("/a"))","destination":"\#(target)","paused":true,\#(more)}"#
      return try await shared.curl("/v1/jobs", "-d", body, as: person)
    }
    for refused in [
      #""proxy":"http://h:1""#, #""proxy":"none""#, #""resolve":["h:1:127.0.0.1"]"#, #""insecure":true"#,
      #""cookies":"\#(hidden)""#, #""ca":"\#(hidden)""#, #""ca":"/etc/ssl/none.pem""#,
    ] {
      let answer = try await add(refused, as: .alice)
      #expect(answer.status == 403 && answer.code == "permission", "\(refused) \(answer)")
    }
    let accepted = try await add(#""cookies":"\#(own)""#, as: .alice)
    #expect(accepted.status == 201, "\(accepted)")
    let id = "\(accepted.json["id"] ?? "")"
    // Between add and attempt the file becomes a link to one that she may not read.
    try FileManager.default.removeItem(atPath: own)
    symlink(hidden, own)
    #expect(try await shared.ctl("resume", id, as: .alice).status == 0)
    #expect(try await shared.ctl("wait", id, as: .alice).status == 1)
    #expect(try await shared.daemon.job(id).error?.code == "permission")
    #expect(server.requests.isEmpty)
    let service = try await add(#""proxy":"none","insecure":false"#, as: .service)
    #expect(service.status == 201, "\(service)")
  }
}
