/// The response to `POST /v1/spool` and `PUT /v1/spool/{token}`.
public struct Spool: Codable, Equatable, Sendable {
  /// Identifies the spooled file, also in `NewJob.spool`.
  public var token: String
  /// The length of the file, which is the offset of the next piece.
  public var bytes: Int64

  public init(token: String, bytes: Int64) {
    self.token = token
    self.bytes = bytes
  }
}
