import Foundation
import HTTPTypes
import Synchronization
import TestSupport
import Testing

@testable import TransferEngine

@Suite(.timeLimit(.minutes(5))) struct RequestVerbTests {
  private static func echo() throws -> LoopbackServer {
    try LoopbackServer { request in
      .response(200, text: "\(request.method) \(request.target) \(String(decoding: request.body, as: UTF8.self))")
    }
  }

  @Test("a request can be made with a String, a Foundation URL or a RequestURL")
  func convertibles() async throws {
    let server = try Self.echo()
    let session = Session()
    let urls: [any URLConvertible] = [
      server.url("/a?b=c"), try #require(URL(string: server.url("/a?b=c"))), try RequestURL(server.url("/a?b=c")),
    ]
    for url in urls { #expect(try await session.request(url).serializingString().value == "GET /a?b=c ") }
  }

  @Test("an invalid URL fails the request, not the call", arguments: ["", "nonsense", "http://", "gopher://x/"])
  func badURL(_ text: String) async {
    let response = await Session().request(text).response()
    switch response.error {
    case .invalidURL?, .unsupportedScheme?: break
    default: Issue.record("\(String(describing: response.error))")
    }
    #expect(response.request == nil)
    #expect(response.metrics.isEmpty)
  }

  @Test("parameters go where the encoding says")
  func parameters() async throws {
    let server = try Self.echo()
    let session = Session()
    struct Value: Encodable, Sendable { var q = "é b" }
    let query = try await session.request(server.url("/"), parameters: ["q": "é b"]).serializingString().value
    #expect(query == "GET /?q=%C3%A9%20b ")
    let body = try await session.request(server.url("/"), method: .post, parameters: ["q": "é b"])
      .serializingString().value
    #expect(body == "POST / q=%C3%A9%20b")
    #expect(server.requests[1].headers["Content-Type"] == "application/x-www-form-urlencoded; charset=utf-8")
    let json = try await session.request(
      server.url("/"), method: .post, parameters: Value(), encoder: JSONParameterEncoder.default
    ).serializingString(encoding: .utf8).value
    #expect(json == "POST / {\"q\":\"é b\"}")
    let form = try await session.request(server.url("/"), parameters: Value()).serializingString().value
    #expect(form == "GET /?q=%C3%A9%20b ")
  }

  @Test("headers are sent, and the modifier runs before the adapters")
  func modifier() async throws {
    let server = try Self.echo()
    let adapter = Adapter { request, _ in
      var request = request
      request.headers[.accept] = (request.headers[.accept] ?? "") + "+adapted"
      return request
    }
    let request = Session().request(
      server.url("/"), headers: [.accept: "text/plain", .from: "me"], interceptor: adapter
    ) { $0.headers[.accept] = "modified" }
    #expect(await request.response().error == nil)
    #expect(server.requests[0].headers["Accept"] == "modified+adapted")
    #expect(server.requests[0].headers["From"] == "me")
    #expect(request.request?.headers[.accept] == "modified+adapted")
  }

  private struct Oops: Error {}

  @Test("a modifier that throws fails the request before anything is sent")
  func throwing() async throws {
    let server = try Self.echo()
    let response = await Session().request(server.url("/"), requestModifier: { _ in throw Oops() }).response()
    guard case .hook(.convertible, let error)? = response.error, error is Oops else {
      Issue.record("\(String(describing: response.error))")
      return
    }
    #expect(server.requests.isEmpty)
  }

  /// Returns another path with each call.
  private final class Router: URLRequestConvertible {
    let asked = Atomic(0)
    let base: String
    init(_ base: String) { self.base = base }
    func asURLRequest() throws -> TransferRequest {
      TransferRequest(url: try RequestURL("\(base)/\(asked.add(1, ordering: .relaxed).newValue)"))
    }
  }

  @Test("each attempt calls asURLRequest again, and the request's adapters run before the session's")
  func everyAttempt() async throws {
    let server = try LoopbackServer { $0.index < 2 ? .response(503) : .response(200) }
    let mark = { (name: String) in
      Adapter { request, _ in
        var request = request
        request.headers[.from] = (request.headers[.from] ?? "") + name
        return request
      }
    }
    let session = Session(interceptor: mark("s"))
    let own = Interceptor(adapters: [mark("a"), mark("b")], retriers: [RetryPolicy.atOnce(2)])
    let request = session.request(Router(server.url("")), interceptor: own).validate()
    #expect(await request.response().error == nil)
    #expect(server.requests.map(\.path) == ["/1", "/2", "/3"])
    #expect(server.requests.map { $0.headers["From"] } == ["abs", "abs", "abs"])
    #expect(request.retryCount == 2)
  }

  @Test("without startRequestsImmediately a request starts only with resume()")
  func notStarted() async throws {
    let server = try Self.echo()
    let session = Session(startRequestsImmediately: false)
    let request = session.request(server.url("/"))
    let done = Gate()
    request.responseString { response in
      #expect(response.value == "GET / ")
      done.open()
    }
    let task = request.serializingString()
    await session.ping()
    #expect(request.isInitialized)
    #expect(server.requests.isEmpty)
    request.resume()
    #expect(try await task.value == "GET / ")
    try await done.wait()
    #expect(request.isFinished)
    #expect(server.requests.count == 1)
  }

  @Test("Session.default sends requests")
  func defaultSession() async throws {
    let server = try Self.echo()
    #expect(try await Session.default.request(server.url("/x")).serializingString().value == "GET /x ")
  }
}
