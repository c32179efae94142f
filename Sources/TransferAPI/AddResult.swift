import FoundationEssentials

/// The answer to one added job. `line` only in the answer to `jobs:batch`.
public struct AddResult: Codable, Equatable, Sendable {
  public var line: Int?
  public var id: JobID?
  /// `true` where the key was known and `id` names the job that was there before.
  public var existing: Bool?
  public var error: Problem?
  /// Where the job stands, if it was there before.
  public var state: JobState?
  /// A warning about a job that was added.
  public var warning: String?

  public init(
    line: Int? = nil, id: JobID? = nil, existing: Bool? = nil, error: Problem? = nil, state: JobState? = nil,
    warning: String? = nil
  ) {
    self.line = line
    self.id = id
    self.existing = existing
    self.error = error
    self.state = state
    self.warning = warning
  }
}
