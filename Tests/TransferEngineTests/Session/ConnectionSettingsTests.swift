import Foundation
import TestSupport
import Testing

@testable import TransferEngine

/// Settings of one request for its connection, which differ from those of the session.
@Suite(.timeLimit(.minutes(5))) struct ConnectionSettingsTests {
  private static func request(_ url: String, _ change: (inout ConnectionSettings) throws -> Void) throws
    -> TransferRequest
  {
    var request = TransferRequest(url: try RequestURL(url))
    try change(&request.connection)
    return request
  }

  private static func text(_ response: DataResponse<some Sendable, TransferError>) -> String? {
    response.data.map { String(decoding: $0, as: UTF8.self) }
  }

  @Test("a request has its own proxy, or none, whatever the session says")
  func proxy() async throws {
    let server = try LoopbackServer { _ in .response(200) }
    let proxy = try await Tinyproxy()
    let closed = try ClosedPort()
    var configuration = SessionConfiguration()
    configuration.proxy = ProxyConfiguration(ProxyServer(.http, host: "127.0.0.1", port: Int(closed.number)))
    let session = Session(configuration: configuration)
    let direct = try Self.request(server.url("/direct")) { $0.proxy = .direct }
    #expect(await session.request(direct).response().error == nil)
    let through = try Self.request(server.url("/through")) {
      $0.proxy = ProxyConfiguration(ProxyServer(.http, host: "127.0.0.1", port: Int(proxy.port)))
    }
    #expect(await session.request(through).response().error == nil)
    #expect(proxy.log.contains("/through") && !proxy.log.contains("/direct"))
    let inherited = try Self.request(server.url("/inherited")) { _ in }
    #expect(await session.request(inherited).response().error != nil)
  }

  @Test("a host's address is used for that request only, also after another request has used the host")
  func hostAddress() async throws {
    let server = try LoopbackServer { .response(200, body: Data(($0.headers["Host"] ?? "").utf8)) }
    let session = Session()
    let url = "http://name.invalid:\(server.port)/"
    let request = try Self.request(url) {
      $0.hostAddresses = [
        try HostAddress("other.invalid:80:192.0.2.1"), try HostAddress("name.invalid:\(server.port):127.0.0.1"),
      ]
    }
    let response = await session.request(request).response()
    #expect(Self.text(response) == "name.invalid:\(server.port)")
    let plain = await session.request(try RequestURL(url)).response()
    guard case .connection(.nameNotResolved)? = plain.error else {
      Issue.record("\(String(describing: plain.error))")
      return
    }
  }

  @Test("a request with a connection of its own neither takes one from the others nor leaves one to them")
  func isolated() async throws {
    let server = try LoopbackServer { _ in .response(200) }
    let session = Session()
    for isIsolated in [false, true, true, false] {
      let request = try Self.request(server.url("/")) { $0.isolatesConnection = isIsolated }
      #expect(await session.request(request).response().error == nil)
    }
    let connections = server.requests.map(\.connection)
    #expect(Set(connections).count == 3 && connections.first == connections.last, "\(connections)")
  }

  @Test("with a host's address, an HTTP proxy is asked for a tunnel to that address")
  func hostAddressThroughProxy() async throws {
    let server = try LoopbackServer { _ in .response(200) }
    let proxy = try await Tinyproxy()
    let request = try Self.request("http://name.invalid:\(server.port)/") {
      $0.hostAddresses = [try HostAddress("name.invalid:\(server.port):127.0.0.1")]
      $0.proxy = ProxyConfiguration(ProxyServer(.http, host: "127.0.0.1", port: Int(proxy.port)))
    }
    let response = await Session().request(request).response()
    #expect(response.error == nil, "\(String(describing: response.error))")
    #expect(proxy.log.contains("CONNECT 127.0.0.1:\(server.port)"))
  }

  @Test("a request may be limited to one version of IP")
  func ipVersion() async throws {
    let server = try LoopbackServer { _ in .response(200) }
    let url = "http://localhost:\(server.port)/"
    let session = Session()
    let four = await session.request(try Self.request(url) { $0.ipVersion = .v4 }).response()
    #expect(four.error == nil && four.metrics.last?.remoteAddress == server.authority)
    // A connection over IPv4 is idle in the pool: it must not be used.
    let six = await session.request(try Self.request("http://127.0.0.1:\(server.port)/") { $0.ipVersion = .v6 })
      .response()
    #expect(six.error != nil)
  }

  @Test("HTTP/1.1 is used where it is demanded, while other requests share an HTTP/2 connection")
  func httpVersion() async throws {
    let certificates = try await TestCertificates()
    let nginx = try await Nginx(
      .init(certificates: certificates, http2: true, directives: #"location / { return 200 "$server_protocol"; }"#))
    var configuration = SessionConfiguration()
    configuration.certificateAuthorityFile = certificates.authority
    let session = Session(configuration: configuration)
    for version: HTTPVersion? in [nil, .http1_1, nil, .http1_1] {
      let response = await session.request(
        try Self.request(nginx.url("/")) { $0.maximumHTTPVersion = version }
      ).response()
      #expect(Self.text(response) == (version == nil ? "HTTP/2.0" : "HTTP/1.1"))
    }
  }

  @Test("cookies follow redirects to the hosts that they are for, and the request's own field comes first")
  func cookies() async throws {
    let server = try LoopbackServer { request in
      request.path == "/start"
        ? .response(302, headers: ["Location": "http://localhost:\(request.headers["X-Port"] ?? "")/end"])
        : .response(200, body: Data((request.headers["Cookie"] ?? "none").utf8))
    }
    let cookies = [
      Cookie(name: "number", value: "1", domain: "127.0.0.1"), Cookie(name: "name", value: "2", domain: "localhost"),
    ]
    var request = try Self.request(server.url("/end")) { $0.cookies = cookies }
    #expect(Self.text(await Session().request(request).response()) == "number=1")
    request.headers[.init("X-Port")!] = "\(server.port)"
    request.url = try RequestURL(server.url("/start"))
    #expect(Self.text(await Session().request(request).response()) == "name=2")
    request.url = try RequestURL(server.url("/end"))
    request.headers[.cookie] = "own=3"
    #expect(Self.text(await Session().request(request).response()) == "own=3")
  }

  @Test("several cookies are sent as one field", arguments: [true, false])
  func severalCookies(areOwn: Bool) async throws {
    let server = try LoopbackServer { request in
      .response(200, body: Data(request.headers[all: "Cookie"].joined(separator: "|").utf8))
    }
    var request = try Self.request(server.url("/")) { connection in
      guard !areOwn else { return }
      connection.cookies = ["a", "b"].map { Cookie(name: $0, value: "1", domain: "127.0.0.1") }
    }
    if areOwn { request.headers[.cookie] = "a=1; b=1" }
    #expect(Self.text(await Session().request(request).response()) == "a=1; b=1")
    if areOwn { #expect(request.cURLDescription(showingSecrets: true).contains("'Cookie: a=1; b=1'")) }
  }

  @Test("a request's own trust and client certificate count, and the certificate stays with its origin")
  func trust() async throws {
    let certificates = try await TestCertificates()
    let client = try await certificates.client()
    func server(_ more: String = "") async throws -> Nginx {
      try await Nginx(
        .init(
          certificates: certificates,
          directives: """
            ssl_client_certificate \(certificates.authority); ssl_verify_client optional;
            location / { return 200 "$ssl_client_verify"; }
            \(more)
            """))
    }
    let other = try await server()
    let nginx = try await server("location /away { return 302 \(other.url("/")); }")
    func bytes(_ path: String) throws -> Data { try Data(contentsOf: URL(fileURLWithPath: path)) }
    let identity = try ClientIdentity(
      certificatePEM: try bytes(client.certificate), keyPEM: try bytes(client.key))
    let authorities = TrustPolicy(
      authorities: .certificates(try Certificate.certificates(inFile: certificates.authority)))
    let session = Session()
    for (trust, path, expected) in [
      (authorities, "/", "SUCCESS"), (.none, "/", "SUCCESS"), (authorities, "/away", "NONE"),
    ] {
      let request = try Self.request(nginx.url(path)) {
        $0.trust = trust
        $0.clientIdentity = identity
      }
      let response = await session.request(request).response()
      #expect(Self.text(response) == expected, "\(path) \(String(describing: response.error))")
    }
    // The connections of the requests above must not be used without their trust.
    guard case .connection(.tls)? = await session.request(try RequestURL(nginx.url("/"))).response().error else {
      Issue.record("the server was not checked")
      return
    }
  }

  @Test("texts that are not a certificate with its key are refused")
  func identities() async throws {
    let certificates = try await TestCertificates()
    let client = try await certificates.client()
    func bytes(_ path: String) throws -> Data { try Data(contentsOf: URL(fileURLWithPath: path)) }
    let (certificate, key) = (try bytes(client.certificate), try bytes(client.key))
    #expect(throws: Never.self) { try ClientIdentity(certificatePEM: certificate + key, keyPEM: nil) }
    #expect(throws: ClientIdentity.InvalidPEM.noKey) { try ClientIdentity(certificatePEM: certificate, keyPEM: nil) }
    #expect(throws: ClientIdentity.InvalidPEM.noKey) {
      try ClientIdentity(certificatePEM: certificate, keyPEM: Data("x".utf8))
    }
    #expect(throws: ClientIdentity.InvalidPEM.noCertificate) { try ClientIdentity(certificatePEM: key, keyPEM: key) }
    let encrypted = try bytes(client.encryptedKey)
    #expect(throws: ClientIdentity.InvalidPEM.encryptedKey) {
      try ClientIdentity(certificatePEM: certificate, keyPEM: encrypted)
    }
    withExtendedLifetime(certificates) {}
  }
}
