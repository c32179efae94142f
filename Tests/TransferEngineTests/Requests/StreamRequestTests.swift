import Dispatch
import Foundation
import HTTPTypes
import TestSupport
import Testing

@testable import TransferEngine

@Suite(.timeLimit(.minutes(5))) struct StreamRequestTests {
  struct Value: Codable, Sendable, Equatable { var n: Int }

  private static func text(_ text: String, cut: Int = 1) -> Script {
    let bytes = Data(text.utf8)
    var steps: [Script.Step] = [.status(200, headers: ["Transfer-Encoding": "chunked"])]
    for start in stride(from: 0, to: bytes.count, by: cut) {
      steps.append(.chunk(bytes[start..<min(start + cut, bytes.count)]))
    }
    return Script(steps + [.lastChunk, .keepAlive])
  }

  private static func collect<Element>(_ stream: AsyncThrowingStream<Element, any Error>) async throws -> [Element] {
    var all: [Element] = []
    for try await element in stream { all.append(element) }
    return all
  }

  @Test("text pieces contain whole characters, even if the network splits a character", arguments: [1, 2, 3, 7])
  func strings(_ cut: Int) async throws {
    let text = "aé€🌍\u{0301}z — 日本語"
    let server = try LoopbackServer { _ in Self.text(text, cut: cut) }
    let pieces = try await Self.collect(Session().streamRequest(server.url("/")).streamingStrings())
    #expect(pieces.joined() == text)
    #expect(!pieces.joined().contains("\u{FFFD}"))
  }

  @Test("each line is decoded as one value, even if the network splits the line", arguments: [1, 5, 1000])
  func decodables(_ cut: Int) async throws {
    let lines = (0..<20).map { "{\"n\":\($0)}" }.joined(separator: "\r\n")
    let server = try LoopbackServer { _ in Self.text("\n" + lines, cut: cut) }
    let values = try await Self.collect(
      Session().streamRequest(server.url("/")).streamingDecodables(Value.self))
    #expect(values == (0..<20).map { Value(n: $0) })
  }

  @Test("redirects are followed, and the head is that of the last response")
  func redirects() async throws {
    let server = try LoopbackServer(.file(size: 5000).behindRedirects())
    let request = Session().streamRequest(server.url("/hop/3"))
    #expect(try await request.responseHead().status == 200)
    #expect(try await Self.collect(request.streamingData()).reduce(0) { $0 + $1.count } == 5000)
    let completion = await request.completion()
    #expect(completion.error == nil && completion.metrics.count == 4 && completion.request?.url.path == "/file")
    let declined = Session().streamRequest(server.url("/hop/3")).redirect(using: .doNotFollow)
    #expect(try await declined.responseHead().status == 302)
  }

  @Test("a stream is retried until a reader has received something")
  func retried() async throws {
    let payload = Payload(size: 30_000)
    let server = try LoopbackServer(.file(payload).failing(503, on: .first(1)).hangingUp(on: .at(1)))
    let request = Session().streamRequest(server.url("/"), interceptor: .atOnce(3)).validate()
    let data = try await Self.collect(request.streamingData()).reduce(Data(), +)
    #expect(sha256(of: data) == payload.sha256)
    #expect(server.requests.count == 3)
    // libcurl itself sends a request again if the reused connection is dead.
    #expect(request.retryCount >= 1)
  }

  @Test("a stream is not retried after a piece or the head was delivered", arguments: [true, false])
  func seen(_ headOnly: Bool) async throws {
    let proceed = Gate()
    let server = try LoopbackServer(
      .file(size: 100_000).interrupting(after: headOnly ? 0 : 50_000, on: .first(1), with: .waitFor(proceed), .reset))
    let request = Session().streamRequest(server.url("/"), interceptor: .atOnce(3))
    if headOnly { #expect(try await request.responseHead().status == 200) }
    var count = 0
    await #expect(throws: TransferError.self) {
      if headOnly { proceed.open() }
      for try await piece in request.streamingData() {
        count += piece.count
        proceed.open()
      }
    }
    #expect(server.requests.count == 1)
    #expect((count > 0) == !headOnly)
    #expect(await request.completion().error != nil)
  }

  @Test("a head that validation rejects delivers no data")
  func validated() async throws {
    let server = try LoopbackServer { _ in .response(404, headers: ["Content-Type": "text/html"], text: "not here") }
    let request = Session().streamRequest(server.url("/")).validate()
    await #expect(throws: TransferError.self) { _ = try await Self.collect(request.streamingData()) }
    #expect(request.error?.status == 404)
    let typed = Session().streamRequest(server.url("/")).validate(contentType: ["text/event-stream"])
    await #expect(throws: TransferError.self) { _ = try await typed.responseHead() }
    #expect(try await Session().streamRequest(server.url("/")).responseHead().status == 404)
  }

  @Test("all handlers get each piece in order and the end, on their own queues")
  func handlers() async throws {
    let server = try LoopbackServer { _ in Self.text("{\"n\":1}\n{\"n\":2}\nnonsense\n{\"n\":3}", cut: 4) }
    let seen = Watched<[String]>([])
    let ended = Watched(0)
    let queue = DispatchQueue(label: "stream")
    let request = Session().streamRequest(server.url("/"))
    request
      .responseStream(on: queue) { stream in
        dispatchPrecondition(condition: .onQueue(queue))
        switch stream.event {
        case .stream(.success(let data)): seen.mutate { $0.append("d\(data.count)") }
        case .complete(let completion):
          #expect(completion.error == nil && completion.response?.status == 200)
          ended.mutate { $0 += 1 }
        }
      }
      .responseStreamString { stream in
        switch stream.event {
        case .stream(.success(let text)): seen.mutate { $0.append("s\(text.count)") }
        case .complete: ended.mutate { $0 += 1 }
        }
      }
      .responseStreamDecodable(of: Value.self, framing: .lines) { stream in
        switch stream.event {
        case .stream(.success(let value)): seen.mutate { $0.append("v\(value.n)") }
        case .stream(.failure(let error)): seen.mutate { $0.append("\(error.code)") }
        case .complete: ended.mutate { $0 += 1 }
        }
      }
    try await ended.wait(for: "three ends") { $0 == 3 ? () : nil }
    let values: [String] = seen.value.filter { !$0.hasPrefix("d") && !$0.hasPrefix("s") || $0 == "serialization" }
    #expect(values == ["v1", "v2", "serialization", "v3"])
    let lengths: [Int] = seen.value.filter { $0.hasPrefix("d") }.compactMap { Int($0.dropFirst()) }
    #expect(lengths.reduce(0, +) == 32)
  }

  @Test("a handler can cancel the request by its token")
  func token() async throws {
    let server = try LoopbackServer(.file(size: 1 << 30))
    let ended = Watched<TransferError.Code?>(nil)
    let request = Session().streamRequest(server.url("/"))
    request.responseStream { stream in
      switch stream.event {
      case .stream: stream.cancel()
      case .complete(let completion): ended.mutate { $0 = completion.error?.code }
      }
    }
    #expect(try await ended.wait(for: "the end") { $0 } == .cancelled)
    #expect(request.isCancelled)
    try await server.waitForCounters { $0.openConnections == 0 }
  }

  @Test("a second reader gets an error, and takes nothing from the first")
  func secondReader() async throws {
    let payload = Payload(size: 3 << 20)
    let server = try LoopbackServer(.file(payload))
    let request = Session().streamRequest(server.url("/"))
    let first = request.streamingData()
    do {
      _ = try await Self.collect(request.streamingData())
      Issue.record("read twice")
    } catch let error as TransferError {
      #expect(error.code == .alreadyRead)
    }
    #expect(sha256(of: try await Self.collect(first).reduce(Data(), +)) == payload.sha256)
  }

  @Test("cancelling the task that reads ends the request")
  func cancelledReader() async throws {
    let server = try LoopbackServer(.file(size: 1 << 20).stalling(after: 1000))
    let request = Session().streamRequest(server.url("/"))
    let began = Gate()
    let reading = Task {
      for try await _ in request.streamingData() { began.open() }
    }
    try await began.wait()
    reading.cancel()
    await #expect(throws: TransferError.self) { try await reading.value }
    #expect(request.isCancelled)
  }

  @Test("with a slow reader, at most 16 MiB are sent and not yet read")
  func flatMemory() async throws {
    let server = try LoopbackServer(.file(size: 96 << 20))
    var count: Int64 = 0
    var most: Int64 = 0
    for try await piece in Session().streamRequest(server.url("/")).streamingData() {
      usleep(2000)
      count += Int64(piece.count)
      // These bytes are in the socket buffers, in libcurl and in the channel.
      most = max(most, server.counters.bodyBytesSent - count)
      #expect(piece.count <= 2 * StreamChannel.highWater)
    }
    #expect(count == 96 << 20)
    #expect(most < 16 << 20, "\(most) bytes were on their way")
  }

  @Test("a suspended stream delivers no data, and a resumed stream delivers the rest")
  func suspended() async throws {
    let payload = Payload(size: 30 << 20)
    let server = try LoopbackServer(.file(payload))
    let session = Session()
    let request = session.streamRequest(server.url("/"))
    var data = Data()
    var isFirst = true
    for try await piece in request.streamingData() {
      data.append(piece)
      guard isFirst else { continue }
      isFirst = false
      request.suspend()
      for _ in 0..<50 { await session.ping() }
      let held = request.progress.completed
      for _ in 0..<50 { await session.ping() }
      #expect(request.progress.completed == held)
      request.resume()
    }
    #expect(sha256(of: data) == payload.sha256)
  }
}
