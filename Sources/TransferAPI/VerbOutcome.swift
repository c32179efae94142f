import WireValues

/// The result of a verb on several jobs. With `ids`, the jobs that could not be changed are listed; with other
/// selectors only counts are given.
public struct VerbOutcome: Codable, Equatable, Sendable {
  /// The number of jobs that now have the requested state.
  public var changed: Int
  /// How many were selected but are in a state that does not allow it.
  public var skipped: Int
  /// The ids that could not be changed, and why; only for a selection of ids.
  public var problems: [IDProblem]
  /// For `retry`: the number of uploads that are sent again although the server may have them already; `nil` for none.
  public var sentAgain: Int?

  public struct IDProblem: Codable, Equatable, Sendable {
    public var id: JobID
    public var problem: Problem
    public init(id: JobID, problem: Problem) {
      self.id = id
      self.problem = problem
    }
  }

  public init(changed: Int, skipped: Int, problems: [IDProblem] = [], sentAgain: Int? = nil) {
    self.changed = changed
    self.skipped = skipped
    self.problems = problems
    self.sentAgain = sentAgain
  }

  /// Adds the result for further ids.
  public mutating func add(_ other: VerbOutcome) {
    changed = changed.saturatingSum(other.changed)
    skipped = skipped.saturatingSum(other.skipped)
    problems += other.problems
    if let again = other.sentAgain { sentAgain = (sentAgain ?? 0).saturatingSum(again) }
  }
}
