import FoundationEssentials
import TransferAPI

/// Sends requests to one daemon and decodes the responses with the types of TransferAPI.
struct ControlClient: Sendable {
  /// The path of the daemon's socket.
  let socket: String
  let transport: any ControlTransport

  /// - Throws: the daemon's `Problem`, or `ControlError`.
  func get<Response: Decodable>(_ path: String) async throws -> Response {
    try await response("GET", path, body: nil)
  }

  func post<Response: Decodable>(_ path: String, _ body: (any Encodable)?) async throws -> Response {
    try await response("POST", path, body: try body.map { try WireCoding.encoder().encode($0) })
  }

  func patch<Response: Decodable>(_ path: String, _ body: any Encodable) async throws -> Response {
    try await response("PATCH", path, body: try WireCoding.encoder().encode(body))
  }

  /// Sends a request whose response has no body.
  func post(_ path: String) async throws { _ = try await accepted("POST", path, body: nil) }

  func delete(_ path: String) async throws { _ = try await accepted("DELETE", path, body: nil) }

  /// Calls `each` with each line of an NDJSON response as soon as it has arrived. Empty lines are skipped.
  nonisolated(nonsending) func lines(
    _ method: String, _ path: String, headers: [String: String] = [:],
    each: (Data) async throws -> Void, afterChunk: () async throws -> Void = {}
  ) async throws {
    try await Self.lines(of: try await open(method, path, headers: headers), each: each, afterChunk: afterChunk)
  }

  /// The same for a request with a long body, which is made while it is sent.
  nonisolated(nonsending) func lines(
    _ method: String, _ path: String, pieces: @escaping @Sendable () throws -> Data?, contentType: String,
    headers: [String: String], each: (Data) async throws -> Void, afterChunk: () async throws -> Void
  ) async throws {
    let (status, chunks) = try await transport.stream(
      method, path, pieces: pieces, contentType: contentType, headers: headers)
    try await Self.lines(of: try await Self.accepted(status, chunks), each: each, afterChunk: afterChunk)
  }

  nonisolated(nonsending) private static func lines(
    of chunks: AsyncThrowingStream<Data, any Error>, each: (Data) async throws -> Void,
    afterChunk: () async throws -> Void
  ) async throws {
    var splitter = LineSplitter()
    for try await chunk in chunks {
      for line in splitter.push(chunk) where !line.isEmpty { try await each(line) }
      try await afterChunk()
    }
    if let line = splitter.finish(), !line.isEmpty { try await each(line) }
    try await afterChunk()
  }

  /// Sends a request and streams the response's body. A refusal is thrown.
  func open(
    _ method: String, _ path: String, headers: [String: String] = [:]
  ) async throws -> AsyncThrowingStream<Data, any Error> {
    let (status, chunks) = try await transport.stream(
      method, path, body: nil, contentType: nil, headers: headers)
    return try await Self.accepted(status, chunks)
  }

  /// - Throws: the daemon's refusal.
  private static func accepted(
    _ status: Int, _ chunks: AsyncThrowingStream<Data, any Error>
  ) async throws -> AsyncThrowingStream<Data, any Error> {
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
      throw ControlError.unexpected("cannot read the response of transferd: \(WireCoding.explain(error))")
    }
  }

  private func response<Response: Decodable>(_ method: String, _ path: String, body: Data?) async throws -> Response {
    try Self.decode(from: try await accepted(method, path, body: body))
  }

  private func accepted(_ method: String, _ path: String, body: Data?) async throws -> Data {
    let (status, response) = try await transport.send(
      method, path, body: body, contentType: body == nil ? nil : "application/json")
    guard (200..<300).contains(status) else { throw Self.refusal(status: status, body: response) }
    return response
  }

  /// The error of a refused request. A daemon of another release may have unknown codes; its message is still used.
  static func refusal(status: Int, body: Data) -> any Error {
    struct Words: Decodable { var detail: String }
    if var problem = try? WireCoding.decoder().decode(Problem.self, from: body) {
      // The path and the query, which are too long, have what the caller named.
      if status == 414 { problem.code = .invalid }
      return problem
    }
    if let words = try? WireCoding.decoder().decode(Words.self, from: body) {
      return ControlError.unexpected(words.detail)
    }
    return ControlError.unexpected("transferd responded with status \(status)")
  }
}
