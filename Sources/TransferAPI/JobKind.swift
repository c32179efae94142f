/// What a job does.
public enum JobKind: String, Codable, CaseIterable, Sendable {
  case download
  case upload
  /// Lists a directory and those below it, and adds a download for each file.
  case listing
}
