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
    let room = try DownloadRoom()
    let response = try await room.download(server, "/hop/20").response()
    #expect(response.isSuccess)
    #expect(server.requests.count == 21)
    #expect(response.metrics.count == 21)
    try room.expectOnly(Self.payload)

    let other = try DownloadRoom()
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
    let room = try DownloadRoom()
    let response = try await room.download(server).response()
    guard case .redirect? = response.error else {
      Issue.record("\(String(describing: response.error))")
      return
    }
    #expect(response.error?.isTransient == false)
    #expect(server.requests.count <= 21)
    #expect(try room.names() == [])
  }

  @Test("every kind of redirect is followed by GET", arguments: [301, 302, 303, 307, 308])
  func kinds(_ status: Int) async throws {
    let server = try LoopbackServer(Self.file.behindRedirects(status: status))
    let room = try DownloadRoom()
    #expect(try await room.download(server, "/hop/2").response().isSuccess)
    #expect(server.requests.map(\.path) == ["/hop/2", "/hop/1", "/file"])
    try room.expectOnly(Self.payload)
  }

  @Test(
    "Location is read against the URL it came from",
    arguments: [
      ("other", "/a/other"), ("../up", "/up"), ("/x#frag", "/x"), ("?q=1", "/a/b?q=1"),
      ("/with blank", "/with%20blank"),
    ])
  func relative(_ location: String, _ target: String) async throws {
    let server = try LoopbackServer(Self.file.redirecting(to: location, on: .first(1)))
    let room = try DownloadRoom()
    #expect(try await room.download(server, "/a/b").response().isSuccess)
    #expect(server.requests.map(\.target) == ["/a/b", target])
  }

  @Test("a redirect to nowhere is an error")
  func noLocation() async throws {
    let server = try LoopbackServer(Self.file.redirecting(to: nil))
    let room = try DownloadRoom()
    let response = try await room.download(server).response()
    guard case .redirect(.missingLocation(status: 302))? = response.error else {
      Issue.record("\(String(describing: response.error))")
      return
    }
    #expect(try room.names() == [])
  }

  @Test(
    "no scheme but http and https is followed",
    arguments: ["file:///etc/passwd", "ftp://127.0.0.1/", "gopher://x/", "scp://x/y", "http:///etc"])
  func schemes(_ location: String) async throws {
    let server = try LoopbackServer(Self.file.redirecting(to: location))
    let room = try DownloadRoom()
    let response = try await room.download(server).response()
    switch response.error {
    case .redirect(.unsupportedScheme(let scheme)): #expect(location.hasPrefix(scheme + ":") && scheme != "http")
    case .redirect(.refused): #expect(location == "http:///etc")
    case let error: Issue.record("\(String(describing: error))")
    }
    #expect(try room.names() == [])
  }

  @Test("another port gets none of the secrets; the same origin gets all of them")
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
      let room = try DownloadRoom()
      #expect(try await room.download(.of(server, path, headers: headers)).response().isSuccess)
    }
    for name in names {
      #expect(target.requests[0].headers[name] == nil)
      #expect(server.requests.allSatisfy { $0.headers[name]?.contains("secret") == true })
    }
    #expect(target.requests[0].headers["User-Agent"] == "tests")
    #expect(server.requests.count == 3)
  }

  @Test("a user name and password go to their own origin alone, even on one connection after another")
  func credentials() async throws {
    let target = try LoopbackServer(Self.file)
    let server = try LoopbackServer(Self.file.redirecting(to: target.url("/file.bin")))
    let session = Session()
    var request = try TransferRequest.of(server)
    request.credentials = Credentials(username: "user", password: "secret")
    let room = try DownloadRoom(session)
    #expect(try await room.download(request).response().isSuccess)
    #expect(server.requests[0].headers["Authorization"] == "Basic dXNlcjpzZWNyZXQ=")
    #expect(target.requests[0].headers["Authorization"] == nil)
    let other = try DownloadRoom(session)
    #expect(try await other.download(.of(server)).response().isSuccess)
    #expect(server.requests[1].headers["Authorization"] == nil)
  }

  @Test("going on begins at the user's own URL, and asks for the range there too")
  func resume() async throws {
    let server = try LoopbackServer(files: [
      "/signed": Self.file.redirecting(to: "/data?token=1", on: .first(1)).redirecting(
        to: "/data?token=2", on: .after(1)),
      "/data": Self.file.dropping(after: 50_000),
    ])
    let room = try DownloadRoom()
    let first = try await room.download(server, "/signed").response()
    let second = try await room.download(server, "/signed", resumingWith: first.resumeData?.encoded()).response()
    #expect(second.isSuccess)
    #expect(server.requests.map(\.target) == ["/signed", "/data?token=1", "/signed", "/data?token=2"])
    #expect(server.requests.map(\.range) == [nil, nil, "50000-", "50000-"])
    #expect(first.resumeData?.url == server.url("/signed"))
    try room.expectOnly(Self.payload)
  }

  @Test("if a redirector refuses, the redirect is the response")
  func notFollowed() async throws {
    let server = try LoopbackServer(Self.file.redirecting(to: "/x"))
    let room = try DownloadRoom(Session(redirectHandler: Redirector(behavior: .doNotFollow)))
    #expect(try await room.download(server).response().error?.status == 302)
    #expect(server.requests.count == 1)
  }
}
