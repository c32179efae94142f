/// The direction of a job's transfer.
public enum JobKind: String, Codable, CaseIterable, Sendable {
  case download
  case upload
}
