import FoundationEssentials
import TransferAPI

/// How the control API's HTTP reaches the socket.
protocol ControlTransport: Sendable {
  /// One exchange. `path` begins with /v1/…; throws `ControlError.unreachable` when nobody answers on the socket.
  func send(
    _ method: String, _ path: String, body: Data?, contentType: String?
  ) async throws -> (status: Int, body: Data)

  /// Streams the answer's body as it arrives (NDJSON answers, server-sent events). Ending iteration ends the
  /// transfer.
  func stream(
    _ method: String, _ path: String, body: Data?, contentType: String?, headers: [String: String]
  ) async throws -> (status: Int, chunks: AsyncThrowingStream<Data, any Error>)
}

/// What went wrong between the two programs, other than a `Problem` the daemon told.
enum ControlError: Error, Equatable {
  /// Nobody answers, or the connection was lost.
  case unreachable(String)
  /// An answer that is not in the contract.
  case unexpected(String)
}

/// Asks one daemon, in the words of TransferAPI.
struct ControlClient: Sendable {
  /// The path of the socket it speaks on.
  let socket: String
  let transport: any ControlTransport

  /// - Throws: `Problem` as the daemon told it, or `ControlError`.
  func get<Answer: Decodable>(_ path: String, as type: Answer.Type = Answer.self) async throws -> Answer {
    try await answer("GET", path, body: nil)
  }

  func post<Answer: Decodable>(_ path: String, _ body: (any Encodable)?) async throws -> Answer {
    try await answer("POST", path, body: try body.map { try WireCoding.encoder().encode($0) })
  }

  func patch<Answer: Decodable>(_ path: String, _ body: any Encodable) async throws -> Answer {
    try await answer("PATCH", path, body: try WireCoding.encoder().encode(body))
  }

  /// For answers without a body.
  func post(_ path: String) async throws { _ = try await accepted("POST", path, body: nil) }

  /// Each line of an NDJSON answer, as soon as it is there. Empty lines are left out.
  nonisolated(nonsending) func lines(
    _ method: String, _ path: String, body: Data? = nil, contentType: String? = nil,
    each: (Data) async throws -> Void, afterChunk: () async throws -> Void = {}
  ) async throws {
    let chunks = try await open(method, path, body: body, contentType: contentType)
    var splitter = LineSplitter()
    for try await chunk in chunks {
      for line in splitter.push(chunk) where !line.isEmpty { try await each(line) }
      try await afterChunk()
    }
    if let line = splitter.finish(), !line.isEmpty { try await each(line) }
    try await afterChunk()
  }

  /// An answer to be read as it arrives; refusals are thrown.
  func open(
    _ method: String, _ path: String, body: Data? = nil, contentType: String? = nil,
    headers: [String: String] = [:]
  ) async throws -> AsyncThrowingStream<Data, any Error> {
    let (status, chunks) = try await transport.stream(
      method, path, body: body, contentType: contentType, headers: headers)
    guard (200..<300).contains(status) else {
      var body = Data()
      for try await chunk in chunks where body.count < 1 << 20 { body.append(chunk) }
      throw Self.refusal(status: status, body: body)
    }
    return chunks
  }

  static func decode<Value: Decodable>(_ type: Value.Type = Value.self, from data: Data) throws -> Value {
    do {
      return try WireCoding.decoder().decode(type, from: data)
    } catch {
      throw ControlError.unexpected("cannot read the daemon's answer: \(WireCoding.explain(error))")
    }
  }

  private func answer<Answer: Decodable>(_ method: String, _ path: String, body: Data?) async throws -> Answer {
    try Self.decode(from: try await accepted(method, path, body: body))
  }

  private func accepted(_ method: String, _ path: String, body: Data?) async throws -> Data {
    let (status, answer) = try await transport.send(
      method, path, body: body, contentType: body == nil ? nil : "application/json")
    guard (200..<300).contains(status) else { throw Self.refusal(status: status, body: answer) }
    return answer
  }

  /// A daemon of another release may know codes that are not known here; its words still count.
  static func refusal(status: Int, body: Data) -> any Error {
    struct Words: Decodable { var detail: String }
    if let problem = try? WireCoding.decoder().decode(Problem.self, from: body) { return problem }
    if let words = try? WireCoding.decoder().decode(Words.self, from: body) {
      return ControlError.unexpected(words.detail)
    }
    return ControlError.unexpected("the daemon answered with status \(status)")
  }
}
