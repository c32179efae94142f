import Foundation
import HTTPTypes
import TestSupport
import Testing

@testable import TransferEngine

@Suite(.timeLimit(.minutes(5))) struct RedirectTests {
  static let payload = Payload(size: 200_000)
  private static let file = FileBehaviour.file(payload)

  @Test("20 hops are followed, 21 are not")
  func limit() async throws {
    let server = try LoopbackServer(Self.file.behindRedirects())
    let fixture = try DownloadFixture()
    let response = try await fixture.download(server, "/hop/20").response()
    #expect(response.isSuccess)
    #expect(server.requests.count == 21)
    #expect(response.metrics.count == 21)
    try fixture.expectOnly(Self.payload)

    let other = try DownloadFixture()
    let refused = try await other.download(server, "/hop/21").response()
    guard case .redirect(.tooMany(limit: 20))? = refused.error else {
      Issue.record("\(String(describing: refused.error))")
      return
    }
    #expect(try other.names() == [])
  }

  @Test("a loop ends", arguments: ["/file.bin", "", "?x=1"])
  func loop(_ location: String) async throws {
    let server = try LoopbackServer(Self.file.redirecting(to: location))
    let fixture = try DownloadFixture()
    let response = try await fixture.download(server).response()
    guard case .redirect? = response.error else {
      Issue.record("\(String(describing: response.error))")
      return
    }
    #expect(response.error?.isTransient == false)
    #expect(server.requests.count <= 21)
    #expect(try fixture.names() == [])
  }

  @Test("of two Location fields the first one is followed")
  func twoLocations() async throws {
    let server = try LoopbackServer { request in
      request.path == "/file"
        ? .response(200, body: Data("x".utf8))
        : .response(302, headers: ["Location": "/file", "location": "/file"])
    }
    let fixture = try DownloadFixture()
    #expect(try await fixture.download(server, "/start").response().isSuccess)
    #expect(server.requests.map(\.path) == ["/start", "/file"])
  }

  @Test("a download follows every redirect status", arguments: [301, 302, 303, 307, 308])
  func kinds(_ status: Int) async throws {
    let server = try LoopbackServer(Self.file.behindRedirects(status: status))
    let fixture = try DownloadFixture()
    #expect(try await fixture.download(server, "/hop/2").response().isSuccess)
    #expect(server.requests.map(\.path) == ["/hop/2", "/hop/1", "/file"])
    try fixture.expectOnly(Self.payload)
  }

  @Test(
    "Location is resolved against the URL of the redirecting request",
    arguments: [
      ("other", "/a/other"), ("../up", "/up"), ("/x#frag", "/x"), ("?q=1", "/a/b?q=1"),
      ("/with blank", "/with%20blank"),
    ])
  func relative(_ location: String, _ target: String) async throws {
    let server = try LoopbackServer(Self.file.redirecting(to: location, on: .first(1)))
    let fixture = try DownloadFixture()
    #expect(try await fixture.download(server, "/a/b").response().isSuccess)
    #expect(server.requests.map(\.target) == ["/a/b", target])
  }

  @Test("a redirect without Location is an error")
  func noLocation() async throws {
    let server = try LoopbackServer(Self.file.redirecting(to: nil))
    let fixture = try DownloadFixture()
    let response = try await fixture.download(server).response()
    guard case .redirect(.missingLocation(status: 302))? = response.error else {
      Issue.record("\(String(describing: response.error))")
      return
    }
    #expect(try fixture.names() == [])
  }

  @Test(
    "no scheme but http and https is followed",
    arguments: ["file:///etc/passwd", "ftp://127.0.0.1/", "gopher://x/", "scp://x/y", "http:///etc"])
  func schemes(_ location: String) async throws {
    let server = try LoopbackServer(Self.file.redirecting(to: location))
    let fixture = try DownloadFixture()
    let response = try await fixture.download(server).response()
    switch response.error {
    case .redirect(.unsupportedScheme(let scheme)): #expect(location.hasPrefix(scheme + ":") && scheme != "http")
    case .redirect(.refused): #expect(location == "http:///etc")
    case let error: Issue.record("\(String(describing: error))")
    }
    #expect(try fixture.names() == [])
  }

  @Test("a redirect sends secrets to the same origin, but not to another port")
  func secrets() async throws {
    let target = try LoopbackServer(Self.file)
    let server = try LoopbackServer(files: [
      "/away": Self.file.redirecting(to: target.url("/file.bin")), "/near": Self.file.redirecting(to: "/here"),
      "/here": Self.file,
    ])
    let headers: HTTPFields = [
      .authorization: "Bearer secret", .cookie: "session=secret", HTTPField.Name("X-Api-Key")!: "secret",
      .userAgent: "tests",
    ]
    let names = ["Authorization", "Cookie", "X-Api-Key"]
    for path in ["/away", "/near"] {
      let fixture = try DownloadFixture()
      #expect(try await fixture.download(.of(server, path, headers: headers)).response().isSuccess)
    }
    for name in names {
      #expect(target.requests[0].headers[name] == nil)
      #expect(server.requests.allSatisfy { $0.headers[name]?.contains("secret") == true })
    }
    #expect(target.requests[0].headers["User-Agent"] == "tests")
    #expect(server.requests.count == 3)
  }

  @Test("a user name and password are not sent to another origin or with the next request")
  func credentials() async throws {
    let target = try LoopbackServer(Self.file)
    let server = try LoopbackServer(Self.file.redirecting(to: target.url("/file.bin")))
    let session = Session()
    var request = try TransferRequest.of(server)
    request.credentials = Credentials(username: "user", password: "secret")
    let fixture = try DownloadFixture(session)
    #expect(try await fixture.download(request).response().isSuccess)
    #expect(server.requests[0].headers["Authorization"] == "Basic dXNlcjpzZWNyZXQ=")
    #expect(target.requests[0].headers["Authorization"] == nil)
    let other = try DownloadFixture(session)
    #expect(try await other.download(.of(server)).response().isSuccess)
    #expect(server.requests[1].headers["Authorization"] == nil)
  }

  @Test("a resumed download starts at the user's own URL and sends Range there too")
  func resume() async throws {
    let server = try LoopbackServer(files: [
      "/signed": Self.file.redirecting(to: "/data?token=1", on: .first(1)).redirecting(
        to: "/data?token=2", on: .after(1)),
      "/data": Self.file.dropping(after: 50_000),
    ])
    let fixture = try DownloadFixture()
    let first = try await fixture.download(server, "/signed").response()
    let second = try await fixture.download(server, "/signed", resumingWith: first.resumeData?.encoded()).response()
    #expect(second.isSuccess)
    #expect(server.requests.map(\.target) == ["/signed", "/data?token=1", "/signed", "/data?token=2"])
    #expect(server.requests.map(\.range) == [nil, nil, "50000-", "50000-"])
    #expect(first.resumeData?.url == server.url("/signed"))
    try fixture.expectOnly(Self.payload)
  }

  @Test("if a redirector refuses, the redirect is the response")
  func notFollowed() async throws {
    let server = try LoopbackServer(Self.file.redirecting(to: "/x"))
    let fixture = try DownloadFixture(Session(redirectHandler: Redirector(behavior: .doNotFollow)))
    #expect(try await fixture.download(server).response().error?.status == 302)
    #expect(server.requests.count == 1)
  }
}
