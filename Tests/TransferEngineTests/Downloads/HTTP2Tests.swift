import Foundation
import TestSupport
import Testing

@testable import TransferEngine

@Suite(.timeLimit(.minutes(5))) struct HTTP2Tests {
  private static let payload = Payload(size: 600_000)

  private static func session(_ certificates: TestCertificates) -> Session {
    var configuration = SessionConfiguration()
    configuration.certificateAuthorityFile = certificates.authority
    return Session(configuration: configuration)
  }

  // Fault A32.
  @Test(
    "an HTTP/2 download that is interrupted is not complete, and a retry completes it",
    arguments: ["reset", "silently", "refused", "goaway", "eof"], [true, false])
  func cut(_ fault: String, _ hasLength: Bool) async throws {
    let certificates = try await TestCertificates()
    let server = try await H2Server(certificates, serving: Self.payload.data)
    let length = hasLength ? "" : "&length=0"
    let fixture = try DownloadFixture(Self.session(certificates))
    let once = TransferRequest(url: try RequestURL(server.url("/a?fault=\(fault)&after=200000\(length)")))
    let failed = try await fixture.download(once).response()
    #expect(failed.error?.isTransient == true, "\(String(describing: failed.error))")
    #expect(try fixture.names().contains(DownloadFixture.name) == false)
    #expect(failed.metrics.last?.networkProtocol == "h2")

    let other = try DownloadFixture(Self.session(certificates))
    let twice = TransferRequest(url: try RequestURL(server.url("/b?fault=\(fault)&after=200000&times=2\(length)")))
    let response = try await other.download(twice, interceptor: .atOnce(3)).response()
    #expect(response.error == nil, "\(String(describing: response.error))")
    try other.expectOnly(Self.payload)
  }

  @Test("a server that reports the length 0 for HEAD does not make a body of HTTP/2 without a length incomplete")
  func shorterHead() async throws {
    let certificates = try await TestCertificates()
    let server = try await H2Server(certificates, serving: Self.payload.data)
    let fixture = try DownloadFixture(Self.session(certificates))
    let request = TransferRequest(url: try RequestURL(server.url("/a?length=0&head=0")))
    let response = try await fixture.download(request).response()
    #expect(response.error == nil, "\(String(describing: response.error))")
    try fixture.expectOnly(Self.payload)
  }

  @Test("a longer length for HEAD means that a body of HTTP/2 is incomplete, unless the page is made for each request")
  func longerHead() async throws {
    let certificates = try await TestCertificates()
    let server = try await H2Server(certificates, serving: Self.payload.data)
    for (target, isCutOff) in [("/a?tag=v1", true), ("/b?tag=v2", false), ("/c?x=1", true), ("/d?growing=1", false)] {
      let fixture = try DownloadFixture(Self.session(certificates))
      let request = TransferRequest(url: try RequestURL(server.url("\(target)&length=0&head=700000")))
      let response = try await fixture.download(request).response()
      guard isCutOff else {
        #expect(response.error == nil, "\(target): \(String(describing: response.error))")
        #expect(response.verification == DownloadVerification.none)
        try fixture.expectOnly(Self.payload)
        continue
      }
      guard case .response(.truncated(600_000, 700_000))? = response.error else {
        Issue.record("\(target): \(String(describing: response.error))")
        continue
      }
    }
    let heads = server.requests.filter { $0.hasPrefix("HEAD") }.map { $0.dropFirst(5).prefix(2) }
    #expect(heads == ["/a", "/b", "/c", "/c", "/d", "/d"])
  }

  /// What an adapter adds belongs to the request for the length, too: here what is trusted, without which TLS fails.
  @Test("the length of a body of HTTP/2 is asked for with what adapters have added")
  func adaptedHead() async throws {
    let certificates = try await TestCertificates()
    let server = try await H2Server(certificates, serving: Self.payload.data)
    let adapter = Adapter { request, _ in
      var request = request
      request.connection.trust = TrustPolicy.none
      return request
    }
    let fixture = try DownloadFixture()
    let request = TransferRequest(url: try RequestURL(server.url("/a?fault=silently&after=200000&length=0")))
    let response = try await fixture.download(request, interceptor: adapter).response()
    guard case .response(.truncated(200_000, 600_000))? = response.error else {
      Issue.record("\(String(describing: response.error))")
      return
    }
  }

  /// libcurl reads until a frame has content, and moves no other transfer meanwhile.
  @Test("empty frames of HTTP/2 without end break their connection", arguments: [0, 200_000])
  func emptyFrames(_ bytes: Int) async throws {
    let certificates = try await TestCertificates()
    let server = try await H2Server(certificates, serving: Self.payload.data)
    let fixture = try DownloadFixture(Self.session(certificates))
    let url = try RequestURL(server.url("/a?fault=empty&after=\(bytes)&times=1"))
    let first = try await fixture.download(TransferRequest(url: url)).response()
    guard case .response(.truncated)? = first.error else {
      Issue.record("\(String(describing: first.error))")
      return
    }
    #expect(first.error?.isTransient == true)
    let data = first.resumeData?.encoded()
    let second = try await fixture.download(TransferRequest(url: url), resumingWith: data).response()
    #expect(second.error == nil, "\(String(describing: second.error))")
    try fixture.expectOnly(Self.payload)
  }

  /// A hung server, or a network that has forgotten the connection: only a new connection helps.
  @Test("a connection of HTTP/2 on which a download has stalled is not used again")
  func silence() async throws {
    let certificates = try await TestCertificates()
    let server = try await H2Server(certificates, serving: Self.payload.data)
    let fixture = try DownloadFixture(Self.session(certificates))
    let url = try RequestURL(server.url("/a?fault=silence&after=200000&times=1"))
    let request = TransferRequest(url: url, stallTimeout: .seconds(1))
    let response = try await fixture.download(request, interceptor: .atOnce(1)).response()
    #expect(response.error == nil, "\(String(describing: response.error))")
    #expect(response.metrics.last?.networkProtocol == "h2")
    #expect(response.metrics.last?.isConnectionReused == false)
    try fixture.expectOnly(Self.payload)
  }

  @Test("a stalled download leaves its connection to another one that still receives bytes on it")
  func sharedConnection() async throws {
    let certificates = try await TestCertificates()
    let server = try await H2Server(certificates, serving: Self.payload.data)
    let session = Self.session(certificates)
    let (first, silent, slow) = (
      try DownloadFixture(session), try DownloadFixture(session), try DownloadFixture(session)
    )
    // The connection is there before the two begin: they share it.
    let ready = try await first.download(TransferRequest(url: try RequestURL(server.url("/first")))).response()
    #expect(ready.error == nil, "\(String(describing: ready.error))")
    let stalls = TransferRequest(
      url: try RequestURL(server.url("/a?fault=pending&after=1000")), stallTimeout: .seconds(1))
    let drips = TransferRequest(url: try RequestURL(server.url("/b?pace=0.1")))
    async let stalled = silent.download(stalls).response()
    async let complete = slow.download(drips).response()
    #expect(try await stalled.error != nil)
    let response = try await complete
    #expect(response.error == nil, "\(String(describing: response.error))")
    #expect(response.metrics.last?.isConnectionReused == true)
    try slow.expectOnly(Self.payload)
  }

  @Test("an interrupted HTTP/2 response of a data request is a transient error", arguments: ["reset", "goaway", "eof"])
  func data(_ fault: String) async throws {
    let certificates = try await TestCertificates()
    let server = try await H2Server(certificates, serving: Self.payload.data)
    let url = try RequestURL(server.url("/?fault=\(fault)&after=1000&length=0"))
    let response = await Self.session(certificates).request(url).response()
    #expect(response.error?.isTransient == true, "\(String(describing: response.error))")
  }

  @Test("parallel downloads share one HTTP/2 connection, and an upload uses HTTP/1.1")
  func multiplexing() async throws {
    let certificates = try await TestCertificates()
    let nginx = try await Nginx(.init(certificates: certificates, http2: true, uploads: true))
    try Self.payload.write(to: nginx.root + "/a.bin")
    let session = Self.session(certificates)
    let fixture = try DownloadFixture(session)
    let request = TransferRequest(url: try RequestURL(nginx.url("/a.bin")))
    let new = try await withThrowingTaskGroup(of: Bool.self) { group in
      for number in 0..<20 {
        let download = try fixture.download(request, to: fixture.directory.path("\(number)"))
        group.addTask {
          let response = await download.response()
          #expect(response.error == nil)
          #expect(response.metrics.last?.networkProtocol == "h2")
          return response.metrics.last?.isConnectionReused == false
        }
      }
      return try await group.reduce(0) { $0 + ($1 ? 1 : 0) }
    }
    #expect(new == 1)
    let body = Payload(size: 100_000)
    let response = await session.request(
      try RequestURL(nginx.url("/up.bin")), method: .put, body: .data(body.data)
    ).response()
    #expect(response.head?.status == 201)
    #expect(response.metrics.last?.networkProtocol == "http/1.1")
    #expect(try Data(contentsOf: URL(fileURLWithPath: nginx.root + "/up.bin")) == body.data)
    let after = try await fixture.download(request, to: fixture.directory.path("after")).response()
    #expect(after.metrics.last?.networkProtocol == "h2")
    #expect(after.metrics.last?.isConnectionReused == true)
  }

  @Test("all downloads succeed if the server closes each connection after 3 requests")
  func shortLived() async throws {
    let certificates = try await TestCertificates()
    let nginx = try await Nginx(.init(certificates: certificates, http2: true, directives: "keepalive_requests 3;"))
    try Self.payload.write(to: nginx.root + "/a.bin")
    let fixture = try DownloadFixture(Self.session(certificates))
    let request = TransferRequest(url: try RequestURL(nginx.url("/a.bin")))
    try await withThrowingTaskGroup(of: TransferError?.self) { group in
      for number in 0..<30 {
        let download = try fixture.download(request, to: fixture.directory.path("\(number)"), interceptor: .atOnce(5))
        group.addTask { await download.response().error }
      }
      for try await error in group { #expect(error == nil) }
    }
    for number in 0..<30 { #expect(try sha256(ofFile: fixture.directory.path("\(number)")) == Self.payload.sha256) }
  }
}
