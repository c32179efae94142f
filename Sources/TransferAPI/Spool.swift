import FoundationEssentials

/// The answer of `POST /v1/spool` and `PUT /v1/spool/{token}`.
public struct Spool: Codable, Equatable, Sendable {
  /// Names it, in `NewJob.spool` too.
  public var token: String
  /// Where the next piece begins.
  public var bytes: Int64

  public init(token: String, bytes: Int64) {
    self.token = token
    self.bytes = bytes
  }
}
