/// What to do if the source has changed since its first byte was sent.
public enum SourceChangePolicy: String, Sendable, Codable {
  /// Start over with the new version, up to three times in one attempt.
  case restart
  /// Fail with `TransferError.source(.changed)`.
  case fail
}
