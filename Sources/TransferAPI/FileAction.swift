/// The action on an uploaded file, and its progress.
public struct FileAction: Codable, Equatable, Sendable {
  public var state: State
  /// What was done, or why not; for people.
  public var message: String?

  public enum State: String, Codable, CaseIterable, Sendable {
    /// The server has the file; it is about to be deleted or moved.
    case pending
    case done
    /// The file stays where it is, and `message` says why.
    case failed
  }

  public init(state: State, message: String? = nil) {
    self.state = state
    self.message = message
  }
}
