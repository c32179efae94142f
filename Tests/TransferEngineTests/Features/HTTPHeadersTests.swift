import Foundation
import HTTPTypes
import Testing

@testable import TransferEngine

@Suite struct HTTPHeadersTests {
  @Test("fields are made of a dictionary with string names, of headers, and of a literal with typed names")
  func making() {
    let named = HTTPHeaders(["a": "1", "B": "2"])
    #expect(named["A"] == "1" && named["b"] == "2" && named.count == 2)
    let listed = HTTPHeaders([
      .accept("text/html"), .contentType("text/plain"), HTTPHeader(name: "ACCEPT", value: "*/*"),
    ])
    #expect(listed.map(\.name.rawName) == ["ACCEPT", "Content-Type"] || listed["accept"] == "*/*")
    #expect(listed["Accept"] == "*/*" && listed.count == 2)
    let typed: HTTPHeaders = [.accept: "text/html"]
    #expect(typed["Accept"] == "text/html")
    #expect(HTTPHeaders(["X": "1", "x": "2"])["X"] == "2")
  }

  @Test("names are compared without regard to case")
  func caseInsensitive() {
    var headers = HTTPHeaders(["X-One": "1"])
    headers.add(name: "x-one", value: "2")
    #expect(headers.count == 1 && headers["X-ONE"] == "2")
    headers.update(.init(name: "X-TWO", value: "3"))
    headers.update(name: "x-two", value: "4")
    headers.add(.userAgent("me"))
    #expect(headers.value(for: "X-Two") == "4" && headers.value(for: "User-Agent") == "me")
    headers.remove(name: "x-tWo")
    #expect(headers["X-Two"] == nil)
    headers["X-One"] = nil
    headers["X-Three"] = "5"
    #expect(headers.dictionary == ["User-Agent": "me", "X-Three": "5"])
    #expect(HTTPHeader(name: "A", value: "1") == HTTPHeader(name: "a", value: "1"))
    #expect(Set([HTTPHeader(name: "A", value: "1"), HTTPHeader(name: "a", value: "1")]).count == 1)
  }

  @Test("fields are sorted by name; fields of one name keep their order")
  func sorted() {
    var headers: HTTPHeaders = [:]
    for (name, value) in [("b", "1"), ("C", "2"), ("A", "3"), ("B", "4")] {
      headers.append(HTTPField(name: HTTPField.Name(name)!, value: value))
    }
    #expect(headers.sorted().map(\.value) == ["3", "1", "4", "2"])
    headers.sort()
    #expect(headers.map(\.name.canonicalName) == ["a", "b", "b", "c"])
    #expect(headers["b"] == "1, 4")
  }

  @Test("a name that is not a token is left out", arguments: ["", "a b", "a:", "a\r\nEvil: 1", "ä"])
  func invalid(_ name: String) {
    var headers = HTTPHeaders([name: "1", "Good": "2"])
    #expect(headers.count == 1)
    let (added, updated) = (headers.add(name: name, value: "1"), headers.update(.init(name: name, value: "1")))
    #expect(!added && !updated)
    headers[name] = "1"
    headers.remove(name: name)
    #expect(headers[name] == nil && headers.dictionary == ["Good": "2"])
  }

  @Test("a value cannot begin another field")
  func injection() {
    let headers = HTTPHeaders(["X": "1\r\nEvil: 2"])
    #expect(headers.count == 1)
    #expect(headers["X"]?.contains("\r") == false && headers["X"]?.contains("\n") == false)
  }

  @Test("common fields have Alamofire's constructors")
  func constructors() {
    let rows: [(HTTPHeader, String, String)] = [
      (.accept("a"), "Accept", "a"), (.acceptCharset("a"), "Accept-Charset", "a"),
      (.acceptLanguage("a"), "Accept-Language", "a"), (.acceptEncoding("a"), "Accept-Encoding", "a"),
      (.authorization("a"), "Authorization", "a"),
      (.authorization(bearerToken: "t"), "Authorization", "Bearer t"),
      (.authorization(username: "user", password: "pass"), "Authorization", "Basic dXNlcjpwYXNz"),
      (.contentDisposition("a"), "Content-Disposition", "a"), (.contentEncoding("a"), "Content-Encoding", "a"),
      (.contentType("a"), "Content-Type", "a"), (.userAgent("a"), "User-Agent", "a"),
    ]
    for (header, name, value) in rows { #expect(header.name == name && header.value == value) }
    #expect(HTTPHeader.defaultUserAgent.value.contains("libcurl/"))
  }

  @Test("the default fields are those that a session sends")
  func defaults() {
    #expect(HTTPHeaders.default == SessionConfiguration().defaultHeaders)
    #expect(HTTPHeaders.default["accept"] == "*/*")
  }

  @Test("a header's description shows no secret")
  func description() {
    #expect("\(HTTPHeader.accept("text/html"))" == "Accept: text/html")
    #expect("\(HTTPHeader.authorization(bearerToken: "hush"))" == "Authorization: Bearer ***")
    #expect(!"\(HTTPHeader(name: "X-Api-Key", value: "hush"))".contains("hush"))
    let head = ResponseHead(
      status: 200, headers: HTTPHeaders(["Set-Cookie": "hush", "Server": "here"]),
      url: try? RequestURL("https://host/?token=hush"))
    #expect("\(head)".contains("here") && !"\(head)".contains("hush"))
  }

  @Test("a request has the header and body properties of Foundation's URLRequest")
  func request() throws {
    var request = try plainRequest()
    request.setValue("1", forHTTPHeaderField: "x-one")
    request.addValue("2", forHTTPHeaderField: "X-One")
    request.addValue("3", forHTTPHeaderField: "X-Two")
    #expect(request.value(forHTTPHeaderField: "X-ONE") == "1,2")
    #expect(request.allHTTPHeaderFields == ["X-One": "1,2", "X-Two": "3"])
    request.setValue(nil, forHTTPHeaderField: "X-One")
    #expect(request.value(forHTTPHeaderField: "X-One") == nil)
    request.httpMethod = "PROPFIND"
    request.httpMethod = "two words"
    #expect(request.httpMethod == "PROPFIND" && request.method.rawValue == "PROPFIND")
    #expect(request.httpBody == nil)
    request.httpBody = Data("body".utf8)
    #expect(request.bodyText == "body" && request.httpBody == Data("body".utf8))
    request.body = .file(path: "/x")
    #expect(request.httpBody == nil)
  }

  @Test(
    "timeoutInterval sets the stall timeout and the connect timeout",
    arguments: [
      (60.0, 60.0), (0.5, 0.5), (.infinity, .infinity), (1e300, .infinity), (0, 30), (-1, 30), (.nan, 30),
    ])
  func timeout(_ interval: Double, _ result: Double) throws {
    var request = try plainRequest()
    #expect(request.timeoutInterval == 30)
    request.timeoutInterval = interval
    #expect(request.timeoutInterval == result)
    #expect((request.stallTimeout == nil) == (result == .infinity))
    if result != .infinity { #expect(request.connectTimeout == .seconds(result)) }
  }
}
