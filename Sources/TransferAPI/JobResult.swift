/// What a completed job has done.
public enum JobResult: String, Codable, CaseIterable, Sendable {
  /// The file was transferred.
  case transferred
  /// The destination was the server's version already: no byte of the file was transferred.
  case unchanged
  /// The destination existed, and the job left it as it was.
  case skipped
}
