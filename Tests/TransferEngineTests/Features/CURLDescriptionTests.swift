import Foundation
import HTTPTypes
import TestSupport
import Testing

@testable import TransferEngine

@Suite(.timeLimit(.minutes(5))) struct CURLDescriptionTests {
  @Test("a request is described as a curl command")
  func format() throws {
    let request = TransferRequest(
      url: try RequestURL("https://e.test/a?b=[1]"), method: .post,
      headers: [.contentType: "application/x-www-form-urlencoded", .accept: "it's", HTTPField.Name("X-Empty")!: ""],
      body: .data(Data("a=1&password=geheim&b=%27".utf8)), credentials: Credentials(username: "u", password: "geheim"))
    #expect(
      request.cURLDescription(defaultHeaders: [.accept: "*/*", .userAgent: "x/1"])
        == [
          "curl -v", "-X POST", "--globoff", "-u 'u:***'", #"-H 'Accept: it'\''s'"#,
          "-H 'Content-Type: application/x-www-form-urlencoded'", "-H 'User-Agent: x/1'", "-H 'X-Empty;'",
          "--data-raw 'a=1&password=***&b=%27'", "'https://e.test/a?b=[1]'",
        ].joined(separator: " \\\n\t"))
    #expect(request.debugDescription == request.cURLDescription())
    #expect(String(reflecting: request) == request.cURLDescription())
    #expect(request.cURLDescription(showingSecrets: true).contains("-u 'u:geheim'"))
    #expect(request.cURLDescription(showingSecrets: true).contains("password=geheim"))
  }

  @Test(
    "values of secret headers are hidden",
    arguments: [
      "Authorization", "Proxy-Authorization", "Cookie", "X-Api-Key", "X-Auth-Token", "Api-Key", "X-Amz-Security-Token",
      "X-CSRF-Token", "X-Goog-Signature", "Private-Token", "X-Vault-Token", "Ocp-Apim-Subscription-Key", "X-Session-Id",
    ])
  func fields(_ name: String) throws {
    let request = TransferRequest(
      url: try RequestURL("https://e.test/"), headers: [try #require(HTTPField.Name(name)): "x=geheim"])
    #expect(!request.cURLDescription().contains("geheim"))
    #expect(request.cURLDescription().contains(name))
    #expect(request.cURLDescription(showingSecrets: true).contains("\(name): x=geheim"))
  }

  @Test(
    "values of secret query parameters are hidden",
    arguments: [
      "X-Amz-Signature", "X-Amz-Credential", "X-Amz-Security-Token", "X-Goog-Signature", "sig", "Signature", "token",
      "access_token", "refresh%5Ftoken", "api_key", "apikey", "key", "client_secret", "password", "code", "jwt", "auth",
      "AWSAccessKeyId", "sessionid",
    ])
  func parameters(_ name: String) throws {
    let request = TransferRequest(url: try RequestURL("https://e.test/p?a=1&\(name)=geheim&z=2"))
    #expect(request.cURLDescription().hasSuffix("'https://e.test/p?a=1&\(name)=***&z=2'"))
  }

  @Test(
    "values of other query parameters are shown",
    arguments: ["page", "q", "monkey", "keyword", "Expires", "X-Amz-Date", "prefix", "uploadId", "author"])
  func harmless(_ name: String) throws {
    let request = TransferRequest(url: try RequestURL("https://e.test/p?\(name)=1"))
    #expect(request.cURLDescription().hasSuffix("?\(name)=1'"))
  }

  @Test("the authorization scheme and the names of cookies are shown, but not their values")
  func schemes() throws {
    let request = TransferRequest(
      url: try RequestURL("https://u:geheim@e.test/"),
      headers: [.authorization: "Bearer geheim", .cookie: "a=geheim; b=geheim", .contentType: "text/x"])
    let text = request.cURLDescription()
    #expect(text.contains("'Authorization: Bearer ***'"))
    #expect(text.contains("'Cookie: a=***; b=***'"))
    #expect(!text.contains("geheim"))
  }

  @Test("credentials are described with the curl option of their scheme or protocol")
  func credentials() throws {
    func text(
      _ credential: HTTPCredential?, _ url: String = "https://e.test/", showing: Bool = false
    ) throws -> String {
      var request = TransferRequest(url: try RequestURL(url), body: .file(path: "/a b"))
      request.credential = credential
      if url.hasPrefix("ftp") { request.credentials = Credentials(username: "f", password: "geheim") }
      var dumped = ""
      dump(request, to: &dumped)
      #expect(!dumped.contains("geheim"))
      return request.cURLDescription(showingSecrets: showing)
    }
    #expect(try text(.basic(username: "u", password: "geheim")).contains("-u 'u:***'"))
    #expect(try text(.digest(username: "u", password: "geheim")).contains("--digest \\\n\t-u 'u:***'"))
    #expect(try text(.negotiateAny(username: "u", password: "geheim")).contains("--anyauth \\\n\t-u 'u:***'"))
    #expect(try text(.bearer(token: "geheim")).contains("-H 'Authorization: Bearer ***'"))
    #expect(try text(.bearer(token: "geheim"), showing: true).contains("Bearer geheim'"))
    #expect(
      try text(nil, "ftpes://h.test/a")
        == ["curl -v", "--ssl-reqd", "-u 'f:***'", "-T '/a b'", "'ftp://h.test/a'"].joined(separator: " \\\n\t"))
  }

  @Test("a body is shown or hidden depending on its content type")
  func bodies() throws {
    func text(_ type: String, _ body: RequestBody, showing: Bool = false) throws -> String {
      TransferRequest(url: try RequestURL("https://e.test/"), method: .put, headers: [.contentType: type], body: body)
        .cURLDescription(showingSecrets: showing)
    }
    let json = #"{"user":"u","nested":[{"api_key":"geheim","n":1}]}"#
    #expect(
      try text("application/json; charset=utf-8", .data(Data(json.utf8)))
        .contains(#"--data-raw '{"nested":[{"api_key":"***","n":1}],"user":"u"}'"#))
    #expect(try text("application/json", .data(Data("[1]".utf8))).contains("--data-raw '[1]'"))
    #expect(try text("application/json", .data(Data("geheim".utf8))).contains("'@<6 bytes>'"))
    #expect(try text("text/plain", .data(Data("geheim".utf8))).contains("'@<6 bytes>'"))
    #expect(try text("text/plain", .data(Data("geheim".utf8)), showing: true).contains("--data-raw 'geheim'"))
    #expect(try text("x/y", .data(Data([0, 255])), showing: true).contains("'@<2 bytes>'"))
    #expect(try text("x/y", .file(path: "/a b")).contains("--data-binary '@/a b'"))
    #expect(try text("x/y", .segments([])).contains("'@<several pieces>'"))
  }

  @Test("a sent request is described with the session's default headers")
  func handle() async throws {
    let server = try LoopbackServer { _ in .response(200) }
    var configuration = SessionConfiguration()
    configuration.defaultHeaders[.userAgent] = "agent/1"
    let request = Session(configuration: configuration).request(
      try RequestURL(server.url("/a?token=geheim")), headers: [.accept: "x/y"])
    #expect(request.cURLDescription() == "no request was sent yet")
    _ = await request.response()
    #expect(
      request.cURLDescription()
        == ["curl -v", "-X GET", "-H 'Accept: x/y'", "-H 'User-Agent: agent/1'", "'\(server.url("/a?token=***"))'"]
        .joined(separator: " \\\n\t"))
  }

  @Test("the command makes the same request", arguments: [HTTPRequest.Method.get, .post, .put, .head, .delete])
  func runs(_ method: HTTPRequest.Method) async throws {
    let server = try LoopbackServer { _ in .response(200) }
    let hasBody = method == .post || method == .put
    let request = TransferRequest(
      url: try RequestURL(server.url("/a%20b?q=it's&l=[1]&d=$HOME&e=!x")), method: method,
      headers: [
        .authorization: "Bearer `id`", HTTPField.Name("X-Quotes")!: "\"'\\ $(id)", HTTPField.Name("X-Empty")!: "",
      ],
      body: hasBody ? .data(Data("@line\n'$HOME'\\".utf8)) : nil)
    let result = try await Launch("/bin/sh", ["-c", request.cURLDescription(showingSecrets: true)]).run()
    #expect(result.status == 0, "\(result.stderr)")
    let response = await Session().request(
      request.url, method: method, headers: request.headers, body: request.body
    ).response()
    #expect(response.error == nil)
    let (theirs, ours) = (server.requests[0], server.requests[1])
    #expect(theirs.method == ours.method)
    #expect(theirs.target == ours.target)
    #expect(theirs.body == ours.body)
    for name in ["Authorization", "X-Quotes", "X-Empty"] { #expect(theirs.headers[name] == ours.headers[name]) }
  }
}
