import HTTPTypes
import Testing

@testable import TransferEngine

@Suite struct RedirectRuleTests {
  private func request(_ url: String, method: HTTPRequest.Method = .get) throws -> TransferRequest {
    TransferRequest(
      url: try RequestURL(url), method: method,
      headers: [
        .authorization: "Bearer secret", .cookie: "session=1", .userAgent: "test", .range: "bytes=5-",
        HTTPField.Name("X-Api-Key")!: "secret",
      ], credentials: Credentials(username: "u", password: "p"))
  }

  private func next(_ status: Int, _ location: String?, from request: TransferRequest) throws -> TransferRequest {
    var head = ResponseHead(status: status)
    head.headers[.location] = location
    return try RedirectRule.next(after: request, head: head)
  }

  @Test(
    "Location is resolved against the URL it came from",
    arguments: [
      ("/x?y=1", "http://a.test/x?y=1"), ("z", "http://a.test/dir/z"), ("../up", "http://a.test/up"),
      ("//b.test/x", "http://b.test/x"), ("http://c.test:81/#frag", "http://c.test:81/"),
      ("?q", "http://a.test/dir/file?q"), ("/a b", "http://a.test/a%20b"),
    ])
  func target(_ location: String, _ expected: String) throws {
    #expect(try next(302, location, from: request("http://a.test/dir/file")).url.string == expected)
  }

  @Test("a Location without a host is refused, not guessed at", arguments: ["http:///x", "///x", "http://"])
  func noHost(_ location: String) throws {
    #expect(throws: TransferError.self) { try next(302, location, from: request("http://a.test/")) }
  }

  @Test(
    "a redirect to another scheme, host or port drops credentials and secret headers",
    arguments: ["http://b.test/", "http://a.test:8080/", "https://a.test/"])
  func otherOrigin(_ location: String) throws {
    let next = try next(302, location, from: request("http://a.test/"))
    #expect(next.credentials == nil)
    #expect(Set(next.headers.map(\.name)) == [.userAgent, .range])
  }

  @Test("a redirect to the same origin keeps credentials and headers")
  func sameOrigin() throws {
    let next = try next(302, "/else", from: request("http://a.test/"))
    #expect(next.credentials?.username == "u")
    #expect(next.headers[.authorization] == "Bearer secret")
  }

  @Test("userinfo in a Location is not used")
  func userinfo() throws {
    let next = try next(302, "http://x:y@b.test/", from: request("http://a.test/"))
    #expect(next.credentials == nil)
    #expect(next.url.string == "http://b.test/")
  }

  @Test(
    "redirects to other protocols and from https to http are refused",
    arguments: [
      ("https://a.test/", "http://a.test/"), ("http://a.test/", "file:///etc/passwd"),
      ("http://a.test/", "ftp://b.test/"), ("http://a.test/", "scp://b.test/"), ("http://a.test/", "gopher://b.test/"),
    ])
  func refused(_ from: String, _ location: String) throws {
    let request = try request(from)
    #expect(throws: TransferError.self) { try next(302, location, from: request) }
  }

  @Test("a redirect without Location is an error")
  func noLocation() throws {
    let request = try request("http://a.test/")
    #expect(throws: TransferError.self) { try next(301, nil, from: request) }
    #expect(throws: TransferError.self) { try next(301, "", from: request) }
  }

  @Test(
    "methods change as RFC 9110 §15.4 says",
    arguments: [
      (301, HTTPRequest.Method.post, HTTPRequest.Method.get), (302, .post, .get), (303, .put, .get),
      (303, .head, .head),
      (307, .post, .post), (308, .put, .put), (302, .put, .put),
    ])
  func method(_ status: Int, _ before: HTTPRequest.Method, _ after: HTTPRequest.Method) throws {
    #expect(try next(status, "/x", from: request("http://a.test/", method: before)).method == after)
  }
}
