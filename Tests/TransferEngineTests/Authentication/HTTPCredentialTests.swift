import Foundation
import HTTPTypes
import TestSupport
import Testing

@testable import TransferEngine

@Suite(.timeLimit(.minutes(5))) struct HTTPCredentialTests {
  /// Sends a challenge first, as RFC 7616 requires. Returns the request's body when the request has credentials.
  private static func digestServer(onlyBasic: Bool = false, leaving target: String? = nil) throws -> LoopbackServer {
    try LoopbackServer { request in
      let scheme = onlyBasic ? "Basic" : "Digest"
      guard request.headers["Authorization"]?.hasPrefix(scheme) == true else {
        let challenge =
          onlyBasic ? "Basic realm=\"r\"" : "Digest realm=\"r\", nonce=\"abc\", qop=\"auth\", algorithm=MD5"
        return .response(401, headers: ["WWW-Authenticate": challenge], text: "first say who you are")
      }
      if let target { return .redirect(to: target, status: 307) }
      return .response(200, headers: ["X-Length": "\(request.bodyLength)"], body: request.body)
    }
  }

  private static func send(
    _ server: LoopbackServer, _ credential: HTTPCredential, body: RequestBody? = nil,
    method: HTTPRequest.Method = .get, session: Session = Session()
  ) async throws -> DataResponse<Data?, TransferError> {
    let adapter = Adding { request in request.credential = credential }
    return await session.request(
      try RequestURL(server.url("/x")), method: method, body: body, interceptor: adapter
    ).response()
  }

  @Test("basic and bearer credentials are sent with the first request")
  func atOnce() async throws {
    let server = try LoopbackServer { _ in .response(200) }
    _ = try await Self.send(server, .basic(username: "u", password: "p:p"))
    _ = try await Self.send(server, .bearer(token: "abc"))
    #expect(
      server.requests.map { $0.headers["Authorization"] } == [
        "Basic \(Data("u:p:p".utf8).base64EncodedString())", "Bearer abc",
      ])
  }

  @Test("with digest the caller gets the final response, and the password is not sent")
  func digest() async throws {
    let server = try Self.digestServer()
    for credential: HTTPCredential in [
      .digest(username: "u", password: "secret"), .negotiateAny(username: "u", password: "secret"),
    ] {
      let response = try await Self.send(server, credential)
      #expect(response.head?.status == 200)
      #expect(response.data?.isEmpty != false)
      #expect(response.error == nil)
    }
    #expect(server.requests.count == 4)
    #expect(server.requests[1].headers["Authorization"]?.contains("username=\"u\"") == true)
    #expect(server.requests.allSatisfy { $0.headers["Authorization"]?.contains("secret") != true })
  }

  @Test("negotiateAny uses basic if the server offers only basic; digest does not")
  func anyBasic() async throws {
    let server = try Self.digestServer(onlyBasic: true)
    #expect(try await Self.send(server, .negotiateAny(username: "u", password: "p")).head?.status == 200)
    #expect(server.requests.map { $0.headers["Authorization"] != nil } == [false, true])
    // A request with digest credentials never sends the password, even if the server asks for basic.
    let refused = try await Self.send(server, .digest(username: "u", password: "p"))
    #expect(refused.head?.status == 401)
    #expect(String(decoding: refused.data ?? Data(), as: UTF8.self) == "first say who you are")
    #expect(server.requests.allSatisfy { $0.headers["Authorization"]?.hasPrefix("Digest") != true })
  }

  @Test("a body is sent again after the challenge, from its beginning", arguments: [0, 1, 300_000, 3_000_000])
  func bodies(_ size: Int) async throws {
    let payload = Payload(size: Int64(size))
    let directory = try TemporaryDirectory()
    let path = try directory.file("body", payload.data)
    for credential: HTTPCredential in [
      .digest(username: "u", password: "p"), .negotiateAny(username: "u", password: "p"),
    ] {
      for body: RequestBody in [.data(payload.data), .file(path: path)] {
        let server = try Self.digestServer()
        let response = try await Self.send(server, credential, body: body, method: .put)
        #expect(response.head?.status == 200, "\(String(describing: response.error))")
        let last = try #require(server.requests.last)
        #expect(last.bodySHA256 == payload.sha256)
        #expect(last.bodyLength == Int64(size))
      }
    }
  }

  @Test("a download with digest resumes, and the body of the challenge is not written to the file")
  func download() async throws {
    let payload = Payload(size: 400_000)
    let file = FileBehaviour.file(payload).dropping(after: 150_000, on: .first(1)).handler()
    let server = try LoopbackServer { request in
      guard request.headers["Authorization"]?.hasPrefix("Digest") == true else {
        return .response(
          401, headers: ["WWW-Authenticate": "Digest realm=\"r\", nonce=\"abc\", qop=\"auth\""], text: "challenge")
      }
      return file(request)
    }
    let fixture = try DownloadFixture()
    var request = try TransferRequest.of(server)
    request.credential = .digest(username: "u", password: "p")
    let response = try await fixture.download(request, interceptor: .atOnce(2)).response()
    #expect(response.error == nil)
    #expect(response.resumedFrom == 150_000)
    try fixture.expectOnly(payload)
    #expect(server.requests.count == 4)
  }

  @Test("a wrong digest password gives the 401 response and is tried only once", arguments: [true, false])
  func wrong(_ isDownload: Bool) async throws {
    let server = try LoopbackServer { _ in
      .response(401, headers: ["WWW-Authenticate": "Digest realm=\"r\", nonce=\"abc\", qop=\"auth\""], text: "no")
    }
    if isDownload {
      let fixture = try DownloadFixture()
      var request = try TransferRequest.of(server)
      request.credential = .digest(username: "u", password: "p")
      let response = try await fixture.download(request).response()
      #expect(response.error?.status == 401)
      #expect(try fixture.names() == [])
    } else {
      let response = try await Self.send(server, .digest(username: "u", password: "p"))
      #expect(response.head?.status == 401)
      #expect(String(decoding: response.data ?? Data(), as: UTF8.self) == "no")
    }
    #expect(server.requests.count == 2)
  }

  @Test(
    "a redirect to another origin sends no credential",
    arguments: [
      .basic(username: "u", password: "secret"), .digest(username: "u", password: "secret"),
      .negotiateAny(username: "u", password: "secret"), .bearer(token: "secret"),
    ] as [HTTPCredential])
  func redirect(_ credential: HTTPCredential) async throws {
    let target = try LoopbackServer { request in
      // Sends a challenge, so that a client that wants to send credentials would do so.
      request.headers["Authorization"] == nil
        ? .response(401, headers: ["WWW-Authenticate": "Digest realm=\"r\", nonce=\"abc\", qop=\"auth\""])
        : .response(200)
    }
    let server = try LoopbackServer { request in
      switch (credential, request.headers["Authorization"]) {
      case (.digest, nil), (.negotiateAny, nil):
        .response(401, headers: ["WWW-Authenticate": "Digest realm=\"r\", nonce=\"abc\", qop=\"auth\""])
      default: .redirect(to: target.url("/"))
      }
    }
    let response = try await Self.send(server, credential)
    #expect(response.head?.status == 401)
    #expect(server.requests.last?.headers["Authorization"] != nil)
    #expect(target.requests.count == 1)
    #expect(target.requests[0].headers["Authorization"] == nil)
  }

  @Test("a redirect to another origin sends no Authorization and no Cookie from the session's default headers")
  func defaultFields() async throws {
    let target = try LoopbackServer { _ in .response(200) }
    let server = try LoopbackServer { $0.path == "/near" ? .response(200) : .redirect(to: target.url("/")) }
    var configuration = SessionConfiguration()
    configuration.defaultHeaders[.authorization] = "Bearer secret"
    configuration.defaultHeaders[.cookie] = "session=secret"
    configuration.defaultHeaders[.userAgent] = "tests"
    let session = Session(configuration: configuration)
    #expect(await session.request(try RequestURL(server.url("/away"))).response().error == nil)
    #expect(server.requests[0].headers["Authorization"] == "Bearer secret")
    #expect(target.requests[0].headers["Authorization"] == nil)
    #expect(target.requests[0].headers["Cookie"] == nil)
    #expect(target.requests[0].headers["User-Agent"] == "tests")
  }

  @Test("Proxy-Authorization is not sent to an origin server")
  func proxyField() async throws {
    let server = try LoopbackServer { _ in .response(200) }
    _ = await Session().request(
      try RequestURL(server.url("/")), headers: [.proxyAuthorization: "Basic secret"]
    ).response()
    #expect(server.requests[0].headers["Proxy-Authorization"] == nil)
  }

  @Test("the next request on the same connection does not use the previous request's credential")
  func pooled() async throws {
    let server = try LoopbackServer { _ in .response(200) }
    let session = Session()
    for credential: HTTPCredential in [.basic(username: "u", password: "secret"), .bearer(token: "secret")] {
      _ = try await Self.send(server, credential, session: session)
      _ = await session.request(try RequestURL(server.url("/y"))).response()
    }
    #expect(server.requests.map { $0.headers["Authorization"] != nil } == [true, false, true, false])
    #expect(server.counters.connections == 1)
    // A libcurl handle that was used for digest does not sign the next request.
    let digest = try Self.digestServer()
    #expect(try await Self.send(digest, .digest(username: "u", password: "p"), session: session).head?.status == 200)
    #expect(await session.request(try RequestURL(digest.url("/"))).response().head?.status == 401)
  }

  @Test("descriptions of credentials contain no secret")
  func descriptions() {
    for credential: HTTPCredential in [
      .basic(username: "u", password: "secret"), .digest(username: "u", password: "secret"),
      .negotiateAny(username: "u", password: "secret"), .bearer(token: "secret"),
    ] {
      var dumped = ""
      dump(credential, to: &dumped)
      #expect(!"\(credential) \(String(reflecting: credential)) \(dumped)".contains("secret"))
    }
  }
}

/// Applies `change` to each request.
struct Adding: RequestInterceptor {
  let change: @Sendable (inout TransferRequest) -> Void

  func adapt(_ request: TransferRequest, for session: Session) async throws -> TransferRequest {
    var request = request
    change(&request)
    return request
  }
}
