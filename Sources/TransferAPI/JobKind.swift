/// What a job does.
public enum JobKind: String, Codable, CaseIterable, Sendable {
  case download
  case upload
}
