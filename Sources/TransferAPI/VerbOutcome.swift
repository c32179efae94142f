import FoundationEssentials

/// The answer to a verb on several jobs. With `ids` every id is named; with other selectors only counts are given.
public struct VerbOutcome: Codable, Equatable, Sendable {
  /// How many jobs now are as asked.
  public var changed: Int
  /// How many were selected but are in a state that does not allow it.
  public var skipped: Int
  /// Of selected ids only: those that could not be changed, and why.
  public var problems: [IDProblem]
  /// Of `retry`: uploads that are sent again although the server may have them already; `nil` is none.
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
}
