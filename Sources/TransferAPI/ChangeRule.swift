/// What happens when the file changes while it is being sent.
public enum ChangeRule: String, Codable, CaseIterable, Sendable {
  /// The new version is sent from its beginning.
  case restart
  /// The job fails with `source-changed`.
  case fail
}
