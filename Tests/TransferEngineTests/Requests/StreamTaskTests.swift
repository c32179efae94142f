import Foundation
import HTTPTypes
import TestSupport
import Testing

@testable import TransferEngine

@Suite(.timeLimit(.minutes(5))) struct StreamTaskTests {
  struct Value: Codable, Sendable, Equatable { var n: Int }
  struct Refusal: Error {}

  /// Sends each piece after the reader got the previous one, so that the network cannot join pieces.
  private static func server(_ pieces: [String], _ gates: [Gate]) throws -> LoopbackServer {
    try LoopbackServer { _ in
      var steps: [Script.Step] = [.status(200, headers: ["Transfer-Encoding": "chunked"])]
      for (number, piece) in pieces.enumerated() {
        if number > 0 { steps.append(.waitFor(gates[number - 1])) }
        steps.append(.chunk(Data(piece.utf8)))
      }
      return Script(steps + [.lastChunk, .keepAlive])
    }
  }

  @Test("pieces are decoded as they arrive, without waiting for the end of a line")
  func pieces() async throws {
    let gates = [Gate(), Gate()]
    let server = try Self.server(["{\"n\":1}", "{\"n\":2}", "{\"n\":3}"], gates)
    let seen = Watched<[Int]>([])
    let ended = Gate()
    Session().streamRequest(server.url("/")).responseStreamDecodable(of: Value.self) { stream in
      if let value = stream.value {
        seen.mutate { $0.append(value.n) }
        if value.n < 3 { gates[value.n - 1].open() }
      }
      if stream.completion != nil { ended.open() }
    }
    try await ended.wait()
    #expect(seen.value == [1, 2, 3])
  }

  @Test("a custom serializer gets each piece as it arrives")
  func serializer() async throws {
    let gates = [Gate()]
    let server = try Self.server(["ab", "cd"], gates)
    let seen = Watched<[String]>([])
    let ended = Gate()
    Session().streamRequest(server.url("/")).responseStream(using: StringStreamSerializer()) { stream in
      if let value = stream.value {
        seen.mutate { $0.append(value) }
        gates[0].open()
      }
      if stream.completion != nil { ended.open() }
    }
    try await ended.wait()
    #expect(seen.value == ["ab", "cd"])
  }

  @Test("automaticallyCancelOnStreamError cancels the request when a serializer fails", arguments: [true, false])
  func serializerFailure(_ isCancelling: Bool) async throws {
    let gates = [Gate()]
    let server = try Self.server(["nonsense", "{\"n\":2}"], gates)
    let events = Watched<[String]>([])
    let ended = Gate()
    let request = Session().streamRequest(server.url("/"), automaticallyCancelOnStreamError: isCancelling)
    request.responseStreamDecodable(of: Value.self) { stream in
      if let error = stream.error { events.mutate { $0.append("\(error.isResponseSerializationError)") } }
      if let value = stream.value { events.mutate { $0.append("\(value.n)") } }
      if let completion = stream.completion {
        events.mutate { $0.append(completion.error.map { "\($0.code)" } ?? "end") }
        ended.open()
      }
      gates[0].open()
    }
    try await ended.wait()
    #expect(events.value == (isCancelling ? ["true", "cancelled"] : ["true", "2", "end"]))
    #expect(request.isCancelled == isCancelling)
  }

  @Test("an error that a handler throws ends the request with that error", arguments: [true, false])
  func throwingHandler(_ flag: Bool) async throws {
    let server = try LoopbackServer(.file(size: 1 << 30))
    let completed = Watched<TransferError?>(nil)
    let request = Session().streamRequest(server.url("/"), automaticallyCancelOnStreamError: flag)
    request.responseStream { stream in
      guard let completion = stream.completion else { throw Refusal() }
      completed.mutate { $0 = completion.error }
    }
    let error = try await completed.wait(for: "the end") { $0 }
    guard case .hook(.streamHandler, is Refusal) = error else {
      Issue.record("\(error)")
      return
    }
    #expect(request.isCancelled)
    #expect(request.error?.underlyingError is Refusal)
    try await server.waitForCounters { $0.openConnections == 0 }
  }

  @Test("the error of a handler counts even if the whole body has arrived")
  func throwingAtTheEnd() async throws {
    let server = try LoopbackServer { _ in .response(200, text: "short") }
    let completed = Watched<TransferError?>(nil)
    Session().streamRequest(server.url("/")).responseStreamString { stream in
      guard let completion = stream.completion else { throw Refusal() }
      completed.mutate { $0 = completion.error }
    }
    let error = try await completed.wait(for: "the end") { $0 }
    #expect(error.underlyingError is Refusal)
  }

  // MARK: Sequences of events

  @Test("a stream task yields data, and the end last")
  func data() async throws {
    let payload = Payload(size: 3 << 20)
    let server = try LoopbackServer(.file(payload))
    var data = Data()
    var completions: [StreamCompletion] = []
    for await event in Session().streamRequest(server.url("/")).streamTask().streamingData() {
      #expect(completions.isEmpty)
      if let piece = event.value { data.append(piece) }
      if let completion = event.completion { completions.append(completion) }
    }
    #expect(sha256(of: data) == payload.sha256)
    #expect(completions.count == 1 && completions[0].error == nil && completions[0].response?.statusCode == 200)
  }

  @Test("a stream task yields text whose characters are whole", arguments: [1, 2, 3])
  func strings(_ cut: Int) async throws {
    let text = "aé€🌍z"
    let server = try LoopbackServer { _ in
      let bytes = Array(text.utf8)
      let chunks = stride(from: 0, to: bytes.count, by: cut).map { start in
        Script.Step.chunk(Data(bytes[start..<min(start + cut, bytes.count)]))
      }
      return Script([.status(200, headers: ["Transfer-Encoding": "chunked"])] + chunks + [.lastChunk, .keepAlive])
    }
    var all = ""
    for await event in Session().streamRequest(server.url("/")).streamTask().streamingStrings() {
      all += event.value ?? ""
    }
    #expect(all == text)
  }

  @Test("a stream task decodes each piece, or each line with `framing: .lines`")
  func decodables() async throws {
    let lines = (0..<20).map { "{\"n\":\($0)}" }.joined(separator: "\r\n") + "\nnonsense"
    let server = try LoopbackServer { _ in .response(200, text: lines) }
    var values: [Int] = []
    var errors = 0
    let task = Session().streamRequest(server.url("/")).streamTask()
    for await event in task.streamingDecodables(Value.self, framing: .lines) {
      if let value = event.value { values.append(value.n) }
      if event.error != nil { errors += 1 }
    }
    #expect(values == Array(0..<20) && errors == 1)
    let whole = try LoopbackServer { _ in .response(200, text: "{\"n\":7}") }
    var one: [Int] = []
    let pieces = Session().streamRequest(whole.url("/")).streamTask()
    for await event in pieces.streamingDecodables(Value.self) {
      if let value = event.value { one.append(value.n) }
    }
    #expect(one == [7])
  }

  @Test("a second sequence gets only the end, with an error; leaving the first one cancels the request")
  func endings() async throws {
    let server = try LoopbackServer(.file(size: 1 << 20).stalling(after: 1000))
    let request = Session().streamRequest(server.url("/"))
    let task = request.streamTask()
    do {
      let first = task.streamingData()
      var errors: [TransferError.Code?] = []
      for await event in task.streamingData() { errors.append(event.completion?.error?.code) }
      #expect(errors == [.alreadyRead])
      for await event in first where event.value != nil { break }
    }
    #expect(await request.completion().error?.isExplicitlyCancelledError == true)
    try await server.waitForCounters { $0.openConnections == 0 }
  }
}
