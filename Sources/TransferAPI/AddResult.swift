/// The result of adding one job, as the daemon sends it. Only responses to `jobs:batch` have a `line`.
public struct AddResult: Codable, Equatable, Sendable {
  public var line: Int?
  public var id: JobID?
  /// `true` if the key was known and `id` names the existing job.
  public var existing: Bool?
  public var error: Problem?
  /// The state of the job, if it existed before.
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
