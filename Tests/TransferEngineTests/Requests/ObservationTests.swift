import Dispatch
import Foundation
import TestSupport
import Testing

@testable import TransferEngine

@Suite(.timeLimit(.minutes(5))) struct ObservationTests {
  private struct Refusal: Error {}

  private static func name(_ event: RequestEvent) -> String { "\("\(event)".prefix { $0 != "(" })" }

  // MARK: What a handle knows

  @Test("a request knows its last request, its last response and the metrics of all its transfers")
  func handle() async throws {
    let server = try LoopbackServer { $0.path == "/a" ? .redirect(to: "/b") : .response(201, text: "here") }
    let request = Session().request(server.url("/a"))
    #expect(request.request == nil && request.response == nil && request.metrics == nil)
    let outcome = await request.response()
    #expect(request.request?.url.path == "/b")
    #expect(request.response?.statusCode == 201)
    #expect(request.response?.url?.string == server.url("/b"))
    #expect(request.response == outcome.head)
    #expect(request.allMetrics.map(\.status) == [302, 201])
    #expect(request.metrics == outcome.metrics.last)
  }

  @Test("response.request is the original request if an adapter throws", arguments: ["data", "stream", "download"])
  func adaptFailure(_ kind: String) async throws {
    let server = try LoopbackServer { _ in .response(200) }
    let session = Session(interceptor: Adapter { _, _ in throw Refusal() })
    let request: TransferRequest?
    let error: TransferError?
    switch kind {
    case "data":
      let response = await session.request(server.url("/a")).response()
      (request, error) = (response.request, response.error)
    case "stream":
      let completion = await session.streamRequest(server.url("/a")).resume().completion()
      (request, error) = (completion.request, completion.error)
    default:
      let response = await session.download(server.url("/a")).response()
      (request, error) = (response.request, response.error)
    }
    #expect(request?.url.path == "/a")
    #expect(error?.isRequestAdaptationError == true)
    #expect(error?.underlyingError is Refusal)
    #expect(server.requests.isEmpty)
  }

  @Test("a cancelled transfer has metrics", arguments: ["data", "stream", "download", "upload"])
  func cancelledMetrics(_ kind: String) async throws {
    let arrived = Gate()
    let server = try LoopbackServer { _ in [.status(200, headers: ["Content-Length": "100"]), .signal(arrived), .stall]
    }
    let recorder = EventRecorder()
    let session = Session(eventMonitors: [recorder])
    let request: any Request =
      switch kind {
      case "data": session.request(server.url("/"))
      case "stream": session.streamRequest(server.url("/"))
      case "download": session.download(server.url("/"))
      default: session.upload(Data("x".utf8), to: server.url("/"))
      }
    request.resume()
    try await arrived.wait()
    request.cancel()
    try await recorder.events.wait(for: "the end") { events in
      events.contains { if case .fail = $0 { true } else { false } } ? () : nil
    }
    #expect(recorder.events.value.contains { if case .gatherMetrics = $0 { true } else { false } })
    #expect(request.allMetrics.count == 1)
    #expect(request.metrics?.remoteAddress != nil)
  }

  @Test("a request that is cancelled before it begins has no metrics")
  func noMetrics() async throws {
    let server = try LoopbackServer { _ in .response(200) }
    let request = Session().request(server.url("/")).cancel()
    #expect(await request.response().error?.isExplicitlyCancelledError == true)
    #expect(request.allMetrics.isEmpty && server.requests.isEmpty)
  }

  // MARK: The handle's life

  @Test("a running request keeps its handle alive: validations and handlers may refer to it unowned")
  func unownedHandle() async throws {
    let proceed = Gate()
    let server = try LoopbackServer { _ in [.waitFor(proceed)] + .response(200, text: "here") }
    let seen = Watched<[String]>([])
    let session = Session()
    func start() {
      let request = session.request(server.url("/"))
      request.validate { [unowned request] _, _, _ in
        seen.mutate { $0.append("validated \(request.id == request.id)") }
        return .success
      }
      request.response { [unowned request] _ in seen.mutate { $0.append("\(request.state)") } }
      let stream = session.streamRequest(server.url("/"))
      stream.validate { [unowned stream] _, _ in
        seen.mutate { $0.append("stream \(stream.isResumed)") }
        return .success
      }
      stream.responseStream { [unowned stream] event in
        if event.completion != nil { seen.mutate { $0.append("end \(stream.state)") } }
      }
    }
    start()
    proceed.open()
    try await seen.wait(for: "both ends") { $0.contains("finished") && $0.contains("end finished") ? () : nil }
    #expect(Set(seen.value) == ["validated true", "finished", "stream true", "end finished"])
  }

  @Test("a request that has ended does not keep its handle alive")
  func released() async throws {
    final class Witness: Sendable {
      let gone: Gate
      init(_ gone: Gate) { self.gone = gone }
      deinit { gone.open() }
    }
    let server = try LoopbackServer { _ in .response(200) }
    let session = Session()
    let gone = Gate()
    func run() async {
      let witness = Witness(gone)
      let request = session.request(server.url("/")).validate { [witness] _, _, _ in
        _ = witness
        return .success
      }
      request.response { _ in }
      _ = await request.response()
    }
    await run()
    try await gone.wait()
  }

  // MARK: Observers

  @Test("onURLRequestCreation gets the request of every attempt, adapted; a late handler gets the last one")
  func requestCreation() async throws {
    let server = try LoopbackServer { $0.index == 0 ? .response(503) : .response(200) }
    let created = Watched<[String]>([])
    let queue = DispatchQueue(label: "created")
    let number = Watched(0)
    let interceptor = Interceptor(
      adapters: [
        Adapter { request, _ in
          number.mutate { $0 += 1 }
          var request = request
          request.headers["X-Number"] = "\(number.value)"
          return request
        }
      ], retriers: [.retryOnce])
    let request = Session().request(server.url("/"), interceptor: interceptor).validate()
    request.onURLRequestCreation(on: queue) { request in
      dispatchPrecondition(condition: .onQueue(queue))
      created.mutate { $0.append(request.value(forHTTPHeaderField: "x-number") ?? "none") }
    }
    let requests = request.urlRequests()
    #expect(await request.response().error == nil)
    try await created.wait(for: "two requests") { $0.count == 2 ? () : nil }
    #expect(created.value == ["1", "2"])
    var streamed: [String?] = []
    for await request in requests { streamed.append(request.headers["X-Number"]) }
    #expect(streamed == ["1", "2"])
    let late = Watched<[String?]>([])
    request.onURLRequestCreation { request in late.mutate { $0.append(request.headers["X-Number"]) } }
    #expect(late.value == ["2"])
  }

  @Test("onHTTPResponse gets every head before the body arrives; httpResponses() ends with the request")
  func responses() async throws {
    let proceed = Gate()
    let server = try LoopbackServer { request in
      guard request.path != "/a" else { return .redirect(to: "/b") }
      return [.status(200, headers: ["Content-Length": "4"]), .waitFor(proceed), .body(Data("here".utf8)), .keepAlive]
    }
    let request = Session().request(server.url("/a"))
    let heads = request.httpResponses()
    request.onHTTPResponse { head in
      // The server sends the body only after the handler got the head.
      if head.statusCode == 200 { proceed.open() }
    }
    #expect(try await request.serializingString().value == "here")
    var seen: [String] = []
    for await head in heads { seen.append("\(head.statusCode) \(head.url?.path ?? "")") }
    #expect(seen == ["302 /a", "200 /b"])
    let late = Watched(0)
    request.onHTTPResponse { head in late.mutate { $0 = head.statusCode } }
    #expect(late.value == 200)
    var lateStream: [Int] = []
    for await head in request.httpResponses() { lateStream.append(head.statusCode) }
    #expect(lateStream == [200])
  }

  @Test("cURLDescription(calling:) gets the command once, as soon as the request is created, without secrets")
  func cURL() async throws {
    let server = try LoopbackServer { $0.index == 0 ? .response(503) : .response(200) }
    let commands = Watched<[String]>([])
    let request = Session().request(
      server.url("/a"), headers: HTTPHeaders([.authorization(bearerToken: "hush")]), interceptor: .atOnce(1)
    ).validate()
    request.cURLDescription { command in commands.mutate { $0.append(command) } }
    #expect(commands.value.isEmpty)
    _ = await request.response()
    #expect(commands.value.count == 1)
    request.cURLDescription { command in commands.mutate { $0.append(command) } }
    #expect(commands.value.count == 2)
    #expect(commands.value.allSatisfy { $0.hasPrefix("curl -v") && $0.contains("/a") && !$0.contains("hush") })
  }

  // MARK: Events

  @Test("monitors see adapting, validation and parsing, and their failures")
  func events() async throws {
    let server = try LoopbackServer { _ in .response(200, text: "no JSON") }
    let recorder = EventRecorder()
    let session = Session(eventMonitors: [recorder])
    let failing = session.request(server.url("/"), interceptor: Adapter { _, _ in throw Refusal() })
    _ = await failing.response()
    let names = recorder.events.value.map(Self.name)
    #expect(names == ["resume", "failToAdapt", "fail"])
    guard case .failToAdapt(let described, let error)? = recorder.events.value.dropFirst().first else {
      Issue.record("\(names)")
      return
    }
    #expect(described.url.path == "/" && error.isRequestAdaptationError)

    recorder.events.mutate { $0 = [] }
    let request = session.request(server.url("/")).validate { _, _, _ in .failure(Refusal()) }
    _ = await request.response()
    let validated = recorder.events.value.compactMap { if case .validate(let error) = $0 { error } else { nil } }
    #expect(validated.count == 1 && validated[0].isResponseValidationError)

    recorder.events.mutate { $0 = [] }
    let decoded = await session.request(server.url("/")).validate().serializingDecodable([Int].self).response
    let parsed = recorder.events.value.compactMap { event -> TransferError?? in
      if case .parse(let error) = event { .some(error) } else { nil }
    }
    #expect(parsed.count == 1 && parsed[0]?.isResponseSerializationError == true)
    #expect(decoded.error?.isResponseSerializationError == true)
    #expect(
      recorder.events.value.map(Self.name)
        == ["resume", "send", "receiveHead", "gatherMetrics", "validate", "finish", "parse"])
  }

  @Test("downloads and streams report validation too")
  func validationEvents() async throws {
    let server = try LoopbackServer { _ in .response(404, text: "gone") }
    let recorder = EventRecorder()
    let session = Session(eventMonitors: [recorder])
    _ = await session.download(server.url("/")).validate(contentType: ["text/plain"]).response()
    _ = await session.streamRequest(server.url("/")).validate().resume().completion()
    let results = recorder.events.value.compactMap { event -> Int?? in
      if case .validate(let error) = event { .some(error?.responseCode) } else { nil }
    }
    // The download fails because of its status before its validations run.
    #expect(results == [404])
    let good = try LoopbackServer { _ in .response(200, text: "here") }
    recorder.events.mutate { $0 = [] }
    let fixture = try DownloadFixture(session)
    #expect(try await fixture.download(good).validate(statusCode: [200]).response().isSuccess)
    #expect(recorder.events.value.contains { if case .validate(nil) = $0 { true } else { false } })
  }

  @Test("an adapter can know which request it adapts")
  func adapterState() async throws {
    struct Marking: RequestInterceptor {
      let seen: Watched<[RequestID]>
      func adapt(_ request: TransferRequest, using state: RequestAdapterState) async throws -> TransferRequest {
        seen.mutate { $0.append(state.requestID) }
        return request
      }
    }
    let server = try LoopbackServer { $0.index == 0 ? .response(503) : .response(200) }
    let seen = Watched<[RequestID]>([])
    let marking = Marking(seen: seen)
    let request = Session().request(
      server.url("/"), interceptor: Interceptor(adapters: [marking], retriers: [.retryOnce])
    ).validate()
    #expect(await request.response().error == nil)
    #expect(seen.value == [request.id, request.id])
  }
}

extension RequestRetrier where Self == Retrier {
  /// Retries once without a delay.
  static var retryOnce: Retrier { Retrier { attempt, _ in attempt.retryCount == 0 ? .retry : .doNotRetry } }
}
