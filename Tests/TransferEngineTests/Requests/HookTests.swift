import Foundation
import HTTPTypes
import Logging
import TestSupport
import Testing

@testable import TransferEngine

@Suite(.timeLimit(.minutes(5))) struct HookTests {
  private struct Oops: Error {}

  private static func failing() throws -> LoopbackServer { try LoopbackServer { _ in .response(503) } }

  @Test("the first retrier that does not say .doNotRetry decides; a request's own before its session's")
  func retriers() async throws {
    let server = try Self.failing()
    let asked = Watched<[String]>([])
    let retrier = { (name: String, answer: RetryResult) in
      Retrier { _, _ in
        asked.mutate { $0.append(name) }
        return answer
      }
    }
    let session = Session(interceptor: retrier("session", .doNotRetryWithError(Oops())))
    let own = Interceptor(retriers: [retrier("a", .doNotRetry), retrier("b", .doNotRetry)])
    let response = await session.request(server.url("/"), interceptor: own).validate().response()
    #expect(asked.value == ["a", "b", "session"])
    guard case .hook(.retrier, let error)? = response.error, error is Oops else {
      Issue.record("\(String(describing: response.error))")
      return
    }
    asked.mutate { $0 = [] }
    let limited = Interceptor(
      interceptors: [
        retrier("x", .doNotRetry),
        Retrier { attempt, _ in attempt.retryCount < 2 ? .retry : .doNotRetryWithError(Oops()) },
        retrier("never", .retry),
      ])
    _ = await session.request(server.url("/"), interceptor: limited).validate().response()
    #expect(asked.value == ["x", "x", "x"])
    #expect(server.requests.count == 4)
  }

  @Test("an adapter that throws stops the next adapters, and the retriers are called")
  func adapters() async throws {
    let server = try LoopbackServer { _ in .response(200) }
    let calls = Watched<[String]>([])
    let adapter = { (name: String, fails: Bool) in
      Adapter { request, _ in
        calls.mutate { $0.append(name) }
        if fails, calls.value.count < 4 { throw Oops() }
        return request
      }
    }
    let interceptor = Interceptor(
      adapters: [adapter("a", false), adapter("b", true), adapter("c", false)],
      retriers: [
        Retrier { attempt, _ in
          guard case .hook(.adapter, _) = attempt.error else { return .doNotRetry }
          calls.mutate { $0.append("retry") }
          return .retry
        }
      ])
    #expect(await Session().request(server.url("/"), interceptor: interceptor).response().error == nil)
    #expect(calls.value == ["a", "b", "retry", "a", "b", "c"])
  }

  @Test("adapters, retriers and interceptors can be created from closures")
  func conveniences() async throws {
    let server = try LoopbackServer { $0.index == 0 ? .response(500) : .response(200) }
    let session = Session()
    let both = await session.request(
      server.url("/"),
      interceptor: .interceptor(
        adapter: { request, _ in
          var request = request
          request.headers[.from] = "x"
          return request
        }, retrier: { attempt, _ in attempt.retryCount == 0 ? .retryWithDelay(.milliseconds(1)) : .doNotRetry })
    ).validate().response()
    #expect(both.error == nil)
    #expect(server.requests.map { $0.headers["From"] } == ["x", "x"])
    let parts: any RequestInterceptor = .interceptor(
      adapters: [.adapter { request, _ in request }], retriers: [.retrier { _, _ in .doNotRetry }],
      interceptors: [.retryPolicy, .connectionLostRetryPolicy])
    #expect(await session.request(server.url("/"), interceptor: parts).response().error == nil)
    #expect(RetryResult.retryWithDelay(.seconds(2)).delay == .seconds(2) && RetryResult.retry.retryRequired)
    #expect(!RetryResult.doNotRetry.retryRequired && RetryResult.doNotRetryWithError(Oops()).error is Oops)
  }

  @Test("a policy retries by method, status and kind of failure")
  func policies() async throws {
    let server = try Self.failing()
    let session = Session()
    func tries(_ method: HTTPMethod, _ policy: some RequestInterceptor) async -> Int {
      let before = server.requests.count
      _ = await session.request(server.url("/"), method: method, interceptor: policy).validate().response()
      return server.requests.count - before
    }
    #expect(await tries(.get, RetryPolicy.atOnce(2)) == 3)
    #expect(await tries(.post, RetryPolicy.atOnce(2)) == 1)
    #expect(await tries(.post, RetryPolicy(exponentialBackoffScale: 0, retryableHTTPMethods: [.post])) == 3)
    #expect(await tries(.get, RetryPolicy(exponentialBackoffScale: 0, retryableHTTPStatusCodes: [500])) == 1)
    #expect(await tries(.get, ConnectionLostRetryPolicy(exponentialBackoffScale: 0)) == 1)
    let dropping = try LoopbackServer(.file(size: 1000).dropping(after: 10, on: .always))
    let request = session.request(dropping.url("/"), interceptor: ConnectionLostRetryPolicy(exponentialBackoffScale: 0))
    #expect(await request.response().error != nil)
    #expect(dropping.requests.count == 3)
  }

  @Test("no attempt begins after the deadline")
  func deadline() async throws {
    let server = try LoopbackServer { _ in .response(503, headers: ["Retry-After": "3600"]) }
    let policy = RetryPolicy(retryLimit: 5, deadline: .seconds(60))
    let response = await Session().request(server.url("/"), interceptor: policy).validate().response()
    #expect(response.error?.status == 503)
    #expect(server.requests.count == 1)
  }

  @Test("temporary failures are retried by default")
  func defaultCodes() {
    let transient: Set<TransferError.Code> = [
      .nameNotResolved, .refused, .tlsInterrupted, .proxy, .timedOut, .stalled, .connectionLost, .truncated,
      .unrequestedPartialContent, .undecodable, .diskFull, .fileIO, .streamStarved, .sourceUnsettled,
      .uploadInterrupted, .remoteUnavailable, .journal, .transportInterrupted,
    ]
    #expect(RetryPolicy.defaultRetryableErrorCodes == transient)
    let samples: [TransferError] = [
      .cancelled, .connection(.nameNotResolved(host: "h")), .connection(.refused(host: "h", reason: "r")),
      .connection(.tls(host: "h", reason: "r", isTransient: true)), .invalidResumeData,
      .connection(.timedOut(host: "h")),
      .connection(.tls(host: "h", reason: "r", isTransient: false)), .connection(.broken("b")), .connection(.stalled),
      .response(.truncated(received: 1, expected: 2)), .response(.unrequestedPartialContent),
      .response(.undecodable("u")),
      .response(.malformed("m")), .file(.diskFull("d")), .file(.permission("p")), .hook(.journal, Oops()),
      .hook(.adapter, Oops()), .body(.starved), .body(.notReplayable),
      .transport(code: 1, message: "m", isTransient: true),
      .transport(code: 1, message: "m", isTransient: false), .redirect(.tooMany(limit: 1)),
      .verification(.length(expected: 1, actual: 2)),
    ]
    for error in samples { #expect(transient.contains(error.code) == error.isTransient, "\(error)") }
  }

  // MARK: Redirects

  @Test("a request's own redirector replaces the session's redirector")
  func redirector() async throws {
    let server = try LoopbackServer { $0.path == "/a" ? .redirect(to: "/b") : .response(200, text: $0.path) }
    let session = Session(redirectHandler: .doNotFollow)
    #expect(await session.request(server.url("/a")).response().head?.status == 302)
    let followed = session.request(server.url("/a")).redirect(using: .follow)
    #expect(try await followed.serializingString().value == "/b")
    let changed = session.request(server.url("/a")).redirect(
      using: .modify { request, head in
        #expect(head.status == 302 && request.url.path == "/b")
        var request = request
        request.headers[.from] = "changed"
        return request
      })
    #expect(try await changed.serializingString().value == "/b")
    #expect(server.requests.last?.headers["From"] == "changed")
    #expect(changed.request?.url.path == "/b")
    let refused = session.request(server.url("/a")).redirect(using: .modify { _, _ in nil })
    #expect(await refused.response().head?.status == 302)
  }

  @Test("a data request follows 20 redirects and sends no secrets to another origin")
  func redirects() async throws {
    let target = try LoopbackServer { _ in .response(200) }
    let server = try LoopbackServer { request in
      let number = Int(request.path.dropFirst()) ?? 0
      return .redirect(to: number > 1 ? "/\(number - 1)" : target.url("/end"))
    }
    let session = Session()
    let secret: HTTPFields = [.authorization: "Bearer x", .cookie: "a=b", .accept: "text/plain"]
    let response = await session.request(server.url("/20"), headers: secret).response()
    #expect(response.error == nil && response.metrics.count == 21)
    #expect(target.requests[0].headers["Authorization"] == nil && target.requests[0].headers["Cookie"] == nil)
    #expect(target.requests[0].headers["Accept"] == "text/plain")
    guard case .redirect(.tooMany(limit: 20))? = await session.request(server.url("/21")).response().error else {
      Issue.record("followed")
      return
    }
  }

  // MARK: Events

  @Test("a stream of events and a closure get the same events in order")
  func events() async throws {
    let server = try LoopbackServer { $0.index == 0 ? .response(503) : .response(200) }
    let streamed = EventStreamMonitor()
    let called = Watched<[String]>([])
    let closure = ClosureEventMonitor { _, event in called.mutate { $0.append("\("\(event)".prefix { $0 != "(" })") } }
    let session = Session(interceptor: .atOnce(1), eventMonitors: [closure, streamed])
    let events = streamed.events()
    let request = session.request(server.url("/")).validate()
    #expect(await request.response().error == nil)
    var words: [String] = []
    for await (id, event) in events {
      #expect(id == request.id)
      words.append("\("\(event)".prefix { $0 != "(" })")
      if case .finish = event { break }
    }
    let once = ["adapt", "send", "receiveHead", "gatherMetrics", "validate"]
    #expect(words == ["resume"] + once + ["retry"] + once + ["finish"])
    #expect(called.value == words)
  }

  @Test("the log contains the events and no secrets")
  func log() async throws {
    let lines = Watched<[String]>([])
    var logger = Logger(label: "test") { _ in CapturingLog(lines: lines) }
    logger.logLevel = .trace
    let server = try LoopbackServer { request in
      request.path == "/a"
        ? .redirect(to: "/b?token=hush") : .response(503, headers: ["Set-Cookie": "hush"], text: "hush")
    }
    let session = Session(interceptor: .atOnce(1), eventMonitors: [LogMonitor(logger: logger)])
    _ = await session.request(
      server.url("/a?key=hush").replacingOccurrences(of: "http://", with: "http://hush:hush@"),
      headers: [.authorization: "Bearer hush", .cookie: "hush"]
    ).validate().response()
    let all = lines.value.joined(separator: "\n")
    for word in ["request sent", "/b", "503", "retried", "request failed"] {
      #expect(all.contains(word), "\(word)")
    }
    #expect(!all.contains("hush"), "\(all)")
  }
}

private struct CapturingLog: LogHandler {
  let lines: Watched<[String]>
  var metadata: Logger.Metadata = [:]
  var logLevel = Logger.Level.trace

  subscript(metadataKey key: String) -> Logger.Metadata.Value? {
    get { metadata[key] }
    set { metadata[key] = newValue }
  }

  func log(event: LogEvent) {
    let (message, metadata) = (event.message, event.metadata)
    lines.mutate { $0.append("\(message) \(metadata ?? [:])") }
  }
}
