/// Which way the bytes go.
public enum JobKind: String, Codable, CaseIterable, Sendable {
  case download
  case upload
}
