import Foundation
import Glibc
import HTTPTypes
import TestSupport
import Testing

@testable import TransferEngine

/// Requests through tinyproxy, microsocks and scripted proxies.
@Suite(.timeLimit(.minutes(5))) struct ProxyTests {
  private static let payload = Payload(size: 300_000)

  private static func session(
    _ proxy: ProxyServer, authority: String? = nil, noProxy: NoProxyList = []
  ) -> Session {
    var configuration = SessionConfiguration()
    configuration.proxy = ProxyConfiguration(proxy, noProxy: noProxy)
    configuration.certificateAuthorityFile = authority
    return Session(configuration: configuration)
  }

  private static func proxy(
    _ kind: ProxyServer.Kind = .http, _ port: UInt16, _ user: String? = nil, _ password: String = "secret"
  ) -> ProxyServer {
    ProxyServer(
      kind, host: "127.0.0.1", port: Int(port),
      credentials: user.map { Credentials(username: $0, password: password) })
  }

  private static func failure(_ error: TransferError?) -> TransferError.ProxyFailure? {
    if case .connection(.proxy(let failure))? = error { failure } else { nil }
  }

  private static func echo() async throws -> (Nginx, TestCertificates) {
    let certificates = try await TestCertificates()
    let directives = #"location / { return 200 "$http_authorization|$http_proxy_authorization"; }"#
    return (try await Nginx(.init(certificates: certificates, directives: directives)), certificates)
  }

  // MARK: What works

  @Test("a download through tinyproxy works with http and with https")
  func tinyproxy() async throws {
    let proxy = try await Tinyproxy()
    let certificates = try await TestCertificates()
    for nginx in [try await Nginx(), try await Nginx(.init(certificates: certificates))] {
      try Self.payload.write(to: nginx.root + "/file.bin")
      let fixture = try DownloadFixture(Self.session(Self.proxy(.http, proxy.port), authority: certificates.authority))
      let request = TransferRequest(url: try RequestURL(nginx.url("/file.bin")))
      let response = try await fixture.download(request, to: fixture.path).response()
      #expect(response.error == nil)
      try fixture.expectOnly(Self.payload)
    }
    #expect(proxy.log.contains("CONNECT 127.0.0.1"))
    #expect(proxy.log.contains("GET http://127.0.0.1"))
  }

  @Test("requests through a SOCKS proxy work with and without login, with and without TLS", arguments: [true, false])
  func socks(_ hasUser: Bool) async throws {
    let server = try await Microsocks(credentials: hasUser ? ("me", "secret") : nil)
    let (nginx, certificates) = try await Self.echo()
    let plain = try LoopbackServer(.file(Self.payload))
    for kind: ProxyServer.Kind in [.socks5, .socks5h] {
      let session = Self.session(Self.proxy(kind, server.port, hasUser ? "me" : nil), authority: certificates.authority)
      for url in [nginx.url("/"), plain.url("/file.bin"), "http://localhost:\(plain.port)/"] {
        let response = await session.request(try RequestURL(url)).response()
        #expect(response.error == nil, "\(kind) \(url)")
        #expect(response.head?.status == 200)
      }
    }
    #expect(plain.requests.count == 4)
    try await server.waitForLog("connected to localhost")
  }

  @Test("the TLS certificate of a proxy is verified by the session's trust settings")
  func httpsProxy() async throws {
    // nginx terminates the TLS and forwards the plain request to the target. Not every build of nginx has `stream`.
    let certificates = try await TestCertificates()
    let target = try LoopbackServer(.file(Self.payload))
    let nginx = try await Nginx(
      .init(
        certificates: certificates,
        directives: "location / { proxy_set_header X-Seen \"$request_uri\"; proxy_pass http://\(target.authority); }"))
    let proxy = Self.proxy(.https, nginx.port)
    let url = try RequestURL("http://origin.invalid/file.bin")
    let response = await Self.session(proxy, authority: certificates.authority).request(url).response()
    #expect(response.error == nil)
    #expect(response.data == Self.payload.data)
    let error = await Self.session(proxy).request(url).response().error
    guard case .connection(.tls(let host, _, isTransient: false))? = error else {
      Issue.record("\(String(describing: error))")
      return
    }
    #expect(host.hasPrefix("https://127.0.0.1"))
    // An evaluator for the proxy's host decides as well.
    var configuration = SessionConfiguration()
    configuration.proxy = ProxyConfiguration(proxy)
    let evaluator = try CertificateAuthorityEvaluator(file: certificates.authority)
    let trusting = Session(
      configuration: configuration, serverTrustManager: ServerTrustManager(evaluators: ["127.0.0.1": evaluator]))
    #expect(await trusting.request(url).response().error == nil)
    let strict = Session(configuration: configuration, serverTrustManager: ServerTrustManager(evaluators: [:]))
    guard case .serverTrust(.noRequiredEvaluator)? = await strict.request(url).response().error else {
      Issue.record("the proxy was not evaluated")
      return
    }
  }

  @Test("hosts in the no-proxy list are connected to directly")
  func noProxy() async throws {
    let server = try LoopbackServer { _ in .response(200) }
    let closed = try ClosedPort()
    let dead = Self.proxy(.http, closed.number)
    let session = Self.session(dead, noProxy: ["127.0.0.0/8"])
    #expect(await session.request(try RequestURL(server.url("/"))).response().error == nil)
    let other = await session.request(try RequestURL("http://localhost:\(server.port)/")).response()
    guard case .unreachable? = Self.failure(other.error) else {
      Issue.record("\(String(describing: other.error))")
      return
    }
  }

  // The test runs in its own process, because the environment belongs to the whole process.
  @Test("proxy variables in the environment are ignored")
  func environment() async throws {
    await #expect(processExitsWith: .success) {
      let server = try LoopbackServer { _ in .response(200) }
      let closed = try ClosedPort()
      let dead = closed.number
      for name in ["http_proxy", "all_proxy", "ALL_PROXY"] { setenv(name, "http://127.0.0.1:\(dead)", 1) }
      let url = try RequestURL(server.url("/"))
      #expect(await Session().request(url).response().error == nil)
      // The environment's exceptions are ignored too if a proxy is configured.
      setenv("no_proxy", "*", 1)
      let proxied = ProxyTests.session(ProxyTests.proxy(.http, dead))
      #expect(await proxied.request(url).response().error != nil)
      #expect(server.requests.count == 1)
    }
  }

  // MARK: Secrets

  @Test("the proxy's password is sent to the proxy, the origin's token through the tunnel")
  func secrets() async throws {
    let proxy = try await Tinyproxy(credentials: ("me", "secret"))
    let (nginx, certificates) = try await Self.echo()
    let session = Self.session(Self.proxy(.http, proxy.port, "me"), authority: certificates.authority)
    let request = session.request(
      try RequestURL(nginx.url("/")),
      interceptor: Adding { request in request.credential = .bearer(token: "origin") })
    let response = await request.response()
    #expect(String(decoding: response.data ?? Data(), as: UTF8.self) == "Bearer origin|")
  }

  @Test("a proxy sees only the target and the proxy credentials of a tunnelled request")
  func tunnel() async throws {
    let scripted = try LoopbackServer { _ in .response(502) }
    let session = Self.session(Self.proxy(.http, scripted.port, "me"))
    let headers: HTTPFields = [.cookie: "secret", HTTPField.Name("X-Api-Key")!: "secret"]
    for credential: HTTPCredential in [
      .basic(username: "u", password: "origin"), .digest(username: "u", password: "origin"), .bearer(token: "origin"),
    ] {
      _ = await session.request(
        try RequestURL("https://origin.test/path?secret"), headers: headers,
        interceptor: Adding { $0.credential = credential }
      ).response()
    }
    #expect(scripted.requests.count == 3)
    for request in scripted.requests {
      #expect(request.method == "CONNECT")
      #expect(request.target == "origin.test:443")
      #expect(request.headers["Proxy-Authorization"] == "Basic \(Data("me:secret".utf8).base64EncodedString())")
      for name in ["Authorization", "Cookie", "X-Api-Key"] { #expect(request.headers[name] == nil) }
    }
  }

  @Test("a redirect through the proxy to another origin drops the origin's credential, not the proxy's")
  func redirect() async throws {
    let scripted = try LoopbackServer { request in
      request.target.hasPrefix("http://a.test") ? .redirect(to: "http://b.test/") : .response(200)
    }
    let session = Self.session(Self.proxy(.http, scripted.port, "me"))
    let response = await session.request(
      try RequestURL("http://a.test/"),
      interceptor: Adding { $0.credential = .basic(username: "u", password: "p") }
    ).response()
    #expect(response.error == nil)
    #expect(scripted.requests.map(\.target) == ["http://a.test/", "http://b.test/"])
    #expect(scripted.requests.map { $0.headers["Authorization"] != nil } == [true, false])
    #expect(scripted.requests.allSatisfy { $0.headers["Proxy-Authorization"] != nil })
  }

  @Test("with digest at a forwarding proxy the caller gets the final response")
  func proxyDigest() async throws {
    let scripted = try LoopbackServer { request in
      guard request.headers["Proxy-Authorization"]?.hasPrefix("Digest") == true else {
        return .response(
          407, headers: ["Proxy-Authenticate": "Digest realm=\"r\", nonce=\"abc\", qop=\"auth\""], text: "who?")
      }
      return .response(200, body: request.body)
    }
    var server = Self.proxy(.http, scripted.port, "me")
    for authentication: ProxyServer.Authentication in [.digest, .negotiateAny] {
      server.authentication = authentication
      let payload = Payload(size: 100_000)
      let response = await Self.session(server).request(
        try RequestURL("http://origin.test/"), method: .put, body: .data(payload.data)
      ).response()
      #expect(response.error == nil)
      #expect(response.data == payload.data)
    }
  }

  // MARK: What fails

  @Test("a missing or wrong proxy password is a permanent error", arguments: [nil, "me"])
  func authenticationRequired(_ user: String?) async throws {
    let proxy = try await Tinyproxy(credentials: ("me", "right"))
    let session = Self.session(Self.proxy(.http, proxy.port, user, "wrong"))
    // For a forwarded request with a wrong password tinyproxy sends 401, as an origin would.
    for url in ["https://origin.test/"] + (user == nil ? ["http://origin.test/"] : []) {
      let error = await session.request(try RequestURL(url)).response().error
      guard case .authenticationRequired? = Self.failure(error) else {
        Issue.record("\(url): \(String(describing: error))")
        continue
      }
      #expect(error?.isTransient == false)
      #expect(error.map { "\($0)".contains("wrong") } == false)
    }
    guard user == nil else { return }
    let fixture = try DownloadFixture(session)
    let response = try await fixture.download(TransferRequest(url: RequestURL("http://origin.test/f"))).response()
    #expect(Self.failure(response.error) != nil)
    #expect(try fixture.names() == [])
  }

  @Test("a missing or wrong SOCKS password is a permanent error", arguments: [nil, "me"])
  func socksAuthentication(_ user: String?) async throws {
    let server = try await Microsocks(credentials: ("me", "right"))
    let session = Self.session(Self.proxy(.socks5h, server.port, user, "wrong"))
    let error = await session.request(try RequestURL("http://127.0.0.1:1/")).response().error
    guard case .authenticationRequired? = Self.failure(error) else {
      Issue.record("\(String(describing: error))")
      return
    }
    #expect(error?.isTransient == false)
  }

  @Test(
    "a refused CONNECT is an error that names the status",
    arguments: [(403, false), (405, false), (502, true), (503, true), (504, true), (500, true)])
  func refused(_ status: Int, _ isTransient: Bool) async throws {
    let scripted = try LoopbackServer { _ in .response(status, text: "no") }
    let error = await Self.session(Self.proxy(.http, scripted.port)).request(try RequestURL("https://origin.test/"))
      .response().error
    guard case .refused? = Self.failure(error) else {
      Issue.record("\(String(describing: error))")
      return
    }
    #expect(error?.isTransient == isTransient)
    #expect(error.map { "\($0)".contains("\(status)") } == true)
  }

  /// libcurl reads it byte by byte and moves no other transfer meanwhile.
  @Test("a response to CONNECT without end breaks the connection", arguments: [true, false])
  func endlessResponse(_ isChunked: Bool) async throws {
    let certificates = try await TestCertificates()
    let piece = isChunked ? "4\r\nbody\r\n" : "body"
    let framing: HeaderList = isChunked ? ["Transfer-Encoding": "chunked"] : ["Content-Length": "99999999999"]
    let scripted = try LoopbackServer { _ in
      var headers = framing
      headers["Proxy-Authenticate"] = "Basic realm=\"x\""
      let pieces = Data(String(repeating: piece, count: 10_000).utf8)
      return [.status(407, headers: headers), .endless(pieces)]
    }
    let session = Self.session(Self.proxy(.http, scripted.port), authority: certificates.authority)
    let error = await session.request(try RequestURL("https://127.0.0.1:9/")).response().error
    guard case .broken(_, let reason)? = Self.failure(error) else {
      Issue.record("\(String(describing: error))")
      return
    }
    #expect(reason.contains("longer than"))
  }

  @Test(
    "failures of CONNECT, of the connection to a proxy and of its name are transient and name the proxy")
  func transient() async throws {
    for step: Script.Step in [.close, .reset] {
      let scripted = try LoopbackServer { _ in [step] }
      let error = await Self.session(Self.proxy(.http, scripted.port)).request(try RequestURL("https://origin.test/"))
        .response().error
      #expect(Self.failure(error) != nil, "\(String(describing: error))")
      #expect(error?.isTransient == true)
    }
    for kind in ProxyServer.Kind.allCases {
      let closed = try ClosedPort()
      let error = await Self.session(Self.proxy(kind, closed.number)).request(try RequestURL("https://origin.test/"))
        .response().error
      guard case .unreachable(let proxy, _)? = Self.failure(error) else {
        Issue.record("\(kind): \(String(describing: error))")
        continue
      }
      #expect(proxy.hasPrefix("\(kind.rawValue)://127.0.0.1:"))
      #expect(error?.isTransient == true)
      #expect(error?.isConnectionFailure == true)
    }
    let nowhere = ProxyServer(.http, host: "nowhere.invalid", port: 1)
    let error = await Self.session(nowhere).request(try RequestURL("https://origin.test/")).response().error
    #expect(Self.failure(error) == .nameNotResolved(proxy: "http://nowhere.invalid:1"))
  }

  @Test("a host that a SOCKS proxy cannot reach or resolve is reported as an error of the proxy")
  func socksReplies() async throws {
    let server = try await Microsocks()
    let port = try ClosedPort()
    let closed = try await Self.session(Self.proxy(.socks5h, server.port)).request(
      RequestURL("http://127.0.0.1:\(port.number)/")
    ).response().error
    guard case .refused(_, _, isTransient: true)? = Self.failure(closed) else {
      Issue.record("\(String(describing: closed))")
      return
    }
    let remote = await Self.session(Self.proxy(.socks5h, server.port)).request(
      try RequestURL("http://nowhere.invalid/")
    )
    .response().error
    #expect(Self.failure(remote) != nil)
    let local = await Self.session(Self.proxy(.socks5, server.port)).request(try RequestURL("http://nowhere.invalid/"))
      .response().error
    guard case .connection(.nameNotResolved)? = local else {
      Issue.record("\(String(describing: local))")
      return
    }
  }

  @Test("a tunnel through a proxy is reused only for its own origin")
  func reuse() async throws {
    let proxy = try await Tinyproxy()
    let (first, certificates) = try await Self.echo()
    let second = try await Nginx(.init(certificates: certificates, directives: "location / { return 200 second; }"))
    let session = Self.session(Self.proxy(.http, proxy.port), authority: certificates.authority)
    var reused: [Bool] = []
    for nginx in [first, first, second, first] {
      let response = await session.request(try RequestURL(nginx.url("/"))).response()
      #expect(String(decoding: response.data ?? Data(), as: UTF8.self) == (nginx === first ? "|" : "second"))
      reused.append(response.metrics.last?.isConnectionReused ?? false)
    }
    #expect(reused == [false, true, false, true])
  }
}
