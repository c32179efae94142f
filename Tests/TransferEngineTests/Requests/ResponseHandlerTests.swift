import Dispatch
import Foundation
import HTTPTypes
import TestSupport
import Testing

@testable import TransferEngine

@Suite(.timeLimit(.minutes(5))) struct ResponseHandlerTests {
  private static func server() throws -> LoopbackServer {
    try LoopbackServer { _ in .response(200, headers: ["Content-Type": "application/json"], text: "{\"a\":1}") }
  }

  struct Value: Codable, Sendable, Equatable { var a: Int }

  @Test("handlers run once each, in the order they were added, on the queue they were given")
  func order() async throws {
    let server = try Self.server()
    let calls = Watched<[String]>([])
    let queue = DispatchQueue(label: "handlers")
    let key = DispatchSpecificKey<Bool>()
    queue.setSpecific(key: key, value: true)
    let note: @Sendable (String, Bool) -> Void = { name, isOnQueue in
      #expect((DispatchQueue.getSpecific(key: key) == true) == isOnQueue)
      calls.mutate { $0.append(name) }
    }
    Session().request(server.url("/"))
      .response(queue: queue) {
        #expect($0.data?.count == 7)
        // The next handler waits for this one, although it has another queue.
        usleep(20_000)
        note("plain", true)
      }
      .responseData {
        #expect($0.value?.count == 7)
        note("data", false)
      }
      .responseString(queue: queue) {
        #expect($0.value == "{\"a\":1}")
        note("string", true)
      }
      .responseDecodable(of: Value.self) {
        #expect($0.value == Value(a: 1))
        note("decodable", false)
      }
      .responseJSON { _ in note("json", false) }
      .response(responseSerializer: .data) { _ in note("serializer", false) }
    let all = ["plain", "data", "string", "decodable", "json", "serializer"]
    try await calls.wait(for: "all handlers") { $0.count == all.count ? () : nil }
    #expect(calls.value == all)
    #expect(server.requests.count == 1)
  }

  @Test("handlers that are added after the end are called in order")
  func late() async throws {
    let server = try Self.server()
    let request = Session().request(server.url("/"))
    _ = await request.response()
    let calls = Watched<[Int]>([])
    for number in 0..<50 { request.response { _ in calls.mutate { $0.append(number) } } }
    try await calls.wait(for: "late handlers") { $0.count == 50 ? () : nil }
    #expect(calls.value == Array(0..<50))
  }

  @Test("handlers that are added from many threads while the request ends are each called once")
  func races() async throws {
    let server = try Self.server()
    let session = Session()
    for _ in 0..<10 {
      let request = session.request(server.url("/"))
      let calls = Watched<[Int: Int]>([:])
      await withTaskGroup(of: Void.self) { group in
        for number in 0..<40 {
          group.addTask { request.response { _ in calls.mutate { $0[number, default: 0] += 1 } } }
        }
      }
      try await calls.wait(for: "every handler") { $0.count == 40 ? () : nil }
      #expect(calls.value.values.allSatisfy { $0 == 1 })
    }
    #expect(server.requests.count == 10)
  }

  @Test("a cancelled request calls its handlers, once, with the cancellation")
  func cancelled() async throws {
    let server = try LoopbackServer(.file(size: 10).stallingBeforeAnswer())
    let calls = Watched<[TransferError?]>([])
    let request = Session().request(server.url("/")).responseString { response in
      calls.mutate { $0.append(response.error) }
    }
    try await server.waitForRequests(1)
    request.cancel()
    request.cancel()
    try await calls.wait(for: "the handler") { $0.isEmpty ? nil : () }
    _ = await request.response()
    #expect(calls.value.count == 1)
    #expect(calls.value[0]?.code == .cancelled)
    #expect(request.isCancelled)
  }

  @Test("a serializer's error becomes the response's error and causes no retry")
  func serializerFails() async throws {
    let server = try Self.server()
    let response = await Session().request(server.url("/"), interceptor: .atOnce(3))
      .serializingDecodable([String].self).response
    #expect(response.error?.code == .serialization)
    #expect(response.head?.status == 200)
    #expect(server.requests.count == 1)
  }
}

@Suite(.timeLimit(.minutes(5))) struct SerializingTests {
  @Test("value, result and response of one task serialize the body only once")
  func once() async throws {
    struct Counting: DataResponseSerializerProtocol {
      let count: Watched<Int>
      func serialize(
        request: TransferRequest?, response: ResponseHead?, data: Data?, error: TransferError?
      ) throws -> Int {
        count.mutate { $0 += 1 }
        return data?.count ?? 0
      }
    }
    let server = try LoopbackServer { _ in .response(200, text: "four") }
    let counting = Counting(count: Watched(0))
    let task = Session().request(server.url("/")).serializingResponse(using: counting)
    #expect(try await task.value == 4)
    #expect(try await task.result.get() == 4)
    let response = await task.response
    #expect(response.request?.url.path == "/")
    #expect(response.metrics.count == 1)
    #expect(response.serializationDuration > .zero)
    #expect(counting.count.value == 1)
  }

  @Test("cancelling the awaiting task cancels the request only with automaticallyCancelling", arguments: [true, false])
  func cancelling(_ automatically: Bool) async throws {
    let proceed = Gate()
    let server = try LoopbackServer(.file(Payload(Data("late".utf8))).holding(after: 0, until: proceed))
    let request = Session().request(server.url("/"))
    let task = request.serializingString(automaticallyCancelling: automatically)
    let waiting = Task { await task.result }
    try await server.waitForRequests(1)
    waiting.cancel()
    // The cancelled request ends before the server responds; the other request waits for the server.
    if automatically { _ = await waiting.value }
    proceed.open()
    switch await waiting.value {
    case .success(let text): #expect(!automatically && text == "late")
    case .failure(let error): #expect(automatically && error.code == .cancelled)
    }
    #expect(request.state == (automatically ? .cancelled : .finished))
  }

  @Test("value throws the error of the request")
  func failing() async throws {
    let server = try LoopbackServer { _ in .response(404) }
    do {
      _ = try await Session().request(server.url("/")).validate().serializingData().value
      Issue.record("no error")
    } catch {
      #expect(error.status == 404)
    }
  }

  @Test("a mapped download keeps all facts")
  func mappedDownload() async throws {
    let fixture = try DownloadFixture()
    let server = try LoopbackServer(.file(Payload(size: 1000)))
    let response = try await fixture.download(server).response()
    let mapped = response.map(\.count)
    #expect(response.version != nil && mapped.version == response.version)
    func facts<Success: Sendable, Failure: Error>(_ response: DownloadResponse<Success, Failure>) -> [String: String] {
      var facts: [String: String] = [:]
      for fact in Mirror(reflecting: response).children { facts[fact.label ?? ""] = "\(fact.value)" }
      facts["result"] = nil
      return facts
    }
    #expect(facts(mapped) == facts(response))
  }

  @Test("responses can be mapped like results, and their descriptions contain no secrets")
  func mapping() async throws {
    struct Oops: Error {}
    let server = try LoopbackServer { _ in
      .response(200, headers: ["Set-Cookie": "sid=hush", "Content-Type": "text/plain"], text: "hush")
    }
    let response = await Session().request(
      server.url("/p?token=hush"), headers: [.authorization: "Bearer hush"]
    ).serializingString(encoding: .utf8).response
    #expect(response.map(\.count).value == 4)
    #expect(response.tryMap { _ in throw Oops() }.error is Oops)
    #expect(response.mapError { _ in Oops() }.value == "hush")
    for text in ["\(response)", response.debugDescription, "\(response.request!)"] { #expect(!text.contains("hush")) }
    #expect(response.description == "success(String)")
    #expect(response.debugDescription.contains("[Response]: HTTP/1.1 200"))
    #expect(response.debugDescription.contains("Content-Type: text/plain"))
    let failed = await Session().request("nonsense").response()
    #expect(failed.description.hasPrefix("failure("))
    #expect(failed.mapError { _ in Oops() }.error != nil)
    #expect(failed.tryMapError { _ throws -> Oops in throw CancellationError() }.error is CancellationError)
  }
}
