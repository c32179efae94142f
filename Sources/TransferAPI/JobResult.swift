/// What a completed job has done.
public enum JobResult: String, Codable, CaseIterable, Sendable {
  /// The file was transferred.
  case transferred
}
