/// What a job does.
public enum JobKind: String, Codable, CaseIterable, Sendable {
  case download
  case upload
  /// Lists a directory and those below it, and adds a download for each file.
  case listing
  /// Downloads a file into the daemon's spool, and uploads it from there.
  case relay
}

/// What a relay does now.
public enum RelayPhase: String, Codable, CaseIterable, Sendable {
  /// From the source into the spool.
  case download
  /// From the spool to the target.
  case upload
}
