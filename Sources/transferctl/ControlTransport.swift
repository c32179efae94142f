import FoundationEssentials
import TransferAPI

/// Sends HTTP requests of the control API to the daemon.
protocol ControlTransport: Sendable {
  /// Sends one request and waits for its whole response.
  /// - Parameter path: path and query, percent-encoded.
  /// - Throws: `ControlError.unreachable` if the daemon does not respond.
  func send(
    _ method: String, _ path: String, body: Data?, contentType: String?
  ) async throws -> (status: Int, body: Data)

  /// Sends one request and streams its response's body as it arrives (NDJSON, server-sent events). Ending the iteration closes
  /// the connection.
  func stream(
    _ method: String, _ path: String, body: Data?, contentType: String?, headers: [String: String]
  ) async throws -> (status: Int, chunks: AsyncThrowingStream<Data, any Error>)

  /// As `stream`, with a body that is made while it is sent.
  /// - Parameter pieces: called on another thread until it returns `nil`. An error of it ends the exchange and is thrown by
  ///   the response's stream.
  func stream(
    _ method: String, _ path: String, pieces: @escaping @Sendable () throws -> Data?, contentType: String?,
    headers: [String: String]
  ) async throws -> (status: Int, chunks: AsyncThrowingStream<Data, any Error>)
}

extension ControlTransport {
  /// Collects the pieces. For transports that send no long bodies.
  func stream(
    _ method: String, _ path: String, pieces: @escaping @Sendable () throws -> Data?, contentType: String?,
    headers: [String: String]
  ) async throws -> (status: Int, chunks: AsyncThrowingStream<Data, any Error>) {
    var body = Data()
    while let piece = try pieces() { body.append(piece) }
    return try await stream(method, path, body: body, contentType: contentType, headers: headers)
  }
}
