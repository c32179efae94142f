import FoundationEssentials

/// Speaks HTTP/1.1 on the control socket. Each exchange has a connection of its own.
///
/// The engine's `Session` is not used, because loading libcurl and its thirty libraries takes longer than everything else that
/// a command does (docs/decisions/0006-no-libcurl-in-transferctl.md).
struct SocketTransport: ControlTransport {
  let socket: String

  func send(
    _ method: String, _ path: String, body: Data?, contentType: String?
  ) async throws -> (status: Int, body: Data) {
    let (status, chunks) = try await stream(method, path, body: body, contentType: contentType, headers: [:])
    var response = Data()
    for try await chunk in chunks { response.append(chunk) }
    // Iteration ends without an error when this task is cancelled.
    guard !Task.isCancelled else { throw ControlError.unreachable("the request was cancelled") }
    return (status, response)
  }

  func stream(
    _ method: String, _ path: String, body: Data?, contentType: String?, headers: [String: String]
  ) async throws -> (status: Int, chunks: AsyncThrowingStream<Data, any Error>) {
    var headers = headers
    headers["Content-Type"] = contentType
    let head = HTTPRequestHead(method: method, path: path, headers: headers, body: body.map { .length($0.count) })
    let (exchange, chunks) = SocketExchange.start(socket: socket, head: try head.bytes(), body: .bytes(body ?? Data()))
    return (try await exchange.status(), chunks)
  }

  func stream(
    _ method: String, _ path: String, pieces: @escaping @Sendable () throws -> Data?, contentType: String?,
    headers: [String: String]
  ) async throws -> (status: Int, chunks: AsyncThrowingStream<Data, any Error>) {
    var headers = headers
    headers["Content-Type"] = contentType
    let head = HTTPRequestHead(method: method, path: path, headers: headers, body: .chunks)
    let (exchange, chunks) = SocketExchange.start(socket: socket, head: try head.bytes(), body: .chunks(pieces))
    return (try await exchange.status(), chunks)
  }
}
