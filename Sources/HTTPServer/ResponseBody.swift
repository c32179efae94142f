import NIOCore

/// The body of a response.
public enum ResponseBody: Sendable {
  case none
  case bytes(ByteBuffer)
  /// Written piece by piece, in chunks. If the closure throws, the connection is closed, so that the client sees that the
  /// body is not complete.
  case stream(@Sendable (ResponseWriter) async throws -> Void)
}
