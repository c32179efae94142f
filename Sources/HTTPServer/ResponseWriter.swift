import NIOCore

/// Writes the body of a response that is a stream.
public struct ResponseWriter: Sendable {
  let connection: Connection

  /// Suspends while the client reads more slowly than is written.
  /// - Throws: if the connection is gone.
  public func write(_ piece: ByteBuffer) async throws {
    guard piece.readableBytes > 0 else { return }
    try await connection.write(piece)
  }
}
