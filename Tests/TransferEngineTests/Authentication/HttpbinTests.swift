import Foundation
import HTTPTypes
import TestSupport
import Testing

@testable import TransferEngine

/// Tests against httpbin, a server of another project.
@Suite(.timeLimit(.minutes(5))) struct HttpbinTests {
  private struct Echo: Decodable {
    var headers: [String: String]?
    var data: String?
    var url: String?
    var cookies: [String: String]?
    var token: String?
    var user: String?
    var method: String?
  }

  private static func get(
    _ httpbin: Httpbin, _ path: String, method: HTTPRequest.Method = .get, headers: HTTPFields = [:],
    body: RequestBody? = nil, credential: HTTPCredential? = nil, session: Session = Session()
  ) async throws -> (DataResponse<Data?, TransferError>, Echo?) {
    let response = await session.request(
      try RequestURL(httpbin.url(path)), method: method, headers: headers, body: body,
      interceptor: Adding { request in request.credential = request.credential ?? credential }
    ).response()
    return (response, try? JSONDecoder().decode(Echo.self, from: response.data ?? Data()))
  }

  @Test("all methods work, with and without a body")
  func methods() async throws {
    let httpbin = try await Httpbin()
    for method: HTTPRequest.Method in [.get, .post, .put, .patch, .delete] {
      let (response, echo) = try await Self.get(httpbin, "/anything/x?a=1", method: method)
      #expect(response.error == nil)
      #expect(echo?.method == method.rawValue)
      #expect(echo?.url == httpbin.url("/anything/x?a=1"))
    }
    for method: HTTPRequest.Method in [.post, .put, .patch, .delete] {
      let (response, echo) = try await Self.get(
        httpbin, "/anything", method: method, headers: [.contentType: "text/plain"], body: .data(Data("hello".utf8)))
      #expect(response.head?.status == 200)
      #expect(echo?.data == "hello")
      #expect(echo?.method == method.rawValue)
    }
    let (head, _) = try await Self.get(httpbin, "/bytes/100", method: .head)
    #expect(head.head?.status == 200)
    #expect(head.data?.isEmpty != false)
  }

  @Test(
    "each authentication method gives the expected status",
    arguments: [
      ("/basic-auth/u/p", HTTPCredential.basic(username: "u", password: "p"), 200),
      ("/basic-auth/u/p", .negotiateAny(username: "u", password: "p"), 200),
      ("/basic-auth/u/p", .basic(username: "u", password: "wrong"), 401),
      ("/digest-auth/auth/u/p", .digest(username: "u", password: "p"), 200),
      ("/digest-auth/auth/u/p", .negotiateAny(username: "u", password: "p"), 200),
      ("/digest-auth/auth/u/p", .digest(username: "u", password: "wrong"), 401),
      ("/digest-auth/auth/u/p/SHA-256", .digest(username: "u", password: "p"), 200),
      ("/bearer", .bearer(token: "abc"), 200),
      ("/hidden-basic-auth/u/p", .negotiateAny(username: "u", password: "p"), 404),
    ])
  func authentication(_ path: String, _ credential: HTTPCredential, _ status: Int) async throws {
    let httpbin = try await Httpbin()
    // httpbin's digest endpoint requires a cookie, as a browser would send it.
    let headers: HTTPFields = path.hasPrefix("/digest") ? [.cookie: "fake=fake_value"] : [:]
    let (response, _) = try await Self.get(httpbin, path, headers: headers, credential: credential)
    #expect(response.error == nil)
    #expect(response.head?.status == status)
  }

  @Test("five redirects are followed", arguments: ["/redirect/5", "/relative-redirect/5", "/absolute-redirect/5"])
  func redirects(_ path: String) async throws {
    let httpbin = try await Httpbin()
    let (response, echo) = try await Self.get(httpbin, path)
    #expect(response.head?.status == 200)
    #expect(echo?.url == httpbin.url("/get"))
    #expect(response.metrics.count == 6)
  }

  @Test("303 changes PUT to GET; 307 and 308 keep PUT", arguments: [(303, "GET"), (307, "PUT"), (308, "PUT")])
  func methodAfterRedirect(_ status: Int, _ method: String) async throws {
    let httpbin = try await Httpbin()
    let (response, echo) = try await Self.get(
      httpbin, "/redirect-to?url=/anything&status_code=\(status)", method: .put)
    #expect(response.head?.status == 200)
    #expect(echo?.method == method)
  }

  @Test("gzip, deflate and brotli bodies are decoded", arguments: ["/gzip", "/deflate", "/brotli"])
  func codings(_ path: String) async throws {
    let httpbin = try await Httpbin()
    let (response, echo) = try await Self.get(httpbin, path)
    #expect(response.error == nil)
    #expect(echo?.headers?["Host"] == "127.0.0.1:\(httpbin.port)")
  }

  @Test("no cookie is kept from one request for the next")
  func cookies() async throws {
    let httpbin = try await Httpbin()
    let session = Session()
    let (set, first) = try await Self.get(httpbin, "/cookies/set?a=1", session: session)
    #expect(set.head?.status == 200)
    #expect(first?.cookies == [:])
    #expect(try await Self.get(httpbin, "/cookies", session: session).1?.cookies == [:])
    #expect(
      try await Self.get(httpbin, "/cookies", headers: [.cookie: "b=2"], session: session).1?.cookies == ["b": "2"])
  }

  @Test("a slow response is received, one that is too slow is an error")
  func delays() async throws {
    let httpbin = try await Httpbin()
    #expect(try await Self.get(httpbin, "/delay/1").0.head?.status == 200)
    var configuration = SessionConfiguration()
    configuration.stallTimeout = .seconds(1)
    let (response, _) = try await Self.get(httpbin, "/delay/10", session: Session(configuration: configuration))
    guard case .connection(.stalled)? = response.error else {
      Issue.record("\(String(describing: response.error))")
      return
    }
  }

  @Test("streamed responses arrive completely")
  func streams() async throws {
    let httpbin = try await Httpbin()
    let (lines, _) = try await Self.get(httpbin, "/stream/20")
    #expect(lines.data?.split(separator: UInt8(ascii: "\n")).count == 20)
    let (bytes, _) = try await Self.get(httpbin, "/stream-bytes/50000?chunk_size=1000&seed=1")
    #expect(bytes.data?.count == 50_000)
    let fixture = try DownloadFixture()
    let request = TransferRequest(url: try RequestURL(httpbin.url("/range/100000")))
    let response = try await fixture.download(request).response()
    #expect(response.error == nil)
    #expect(FileFacts(fixture.path)?.size == 100_000)
  }

  @Test("every status gives a response without an error", arguments: [200, 204, 404, 418, 500, 503])
  func statuses(_ status: Int) async throws {
    let httpbin = try await Httpbin()
    let (response, _) = try await Self.get(httpbin, "/status/\(status)")
    #expect(response.error == nil)
    #expect(response.head?.status == status)
  }
}
