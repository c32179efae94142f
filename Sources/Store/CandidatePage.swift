/// What a search has found.
public struct CandidatePage: Equatable, Sendable {
  /// Highest priority first, then in the order in which they were added.
  public var candidates: [Candidate] = []
  /// Where the next search begins, so that all batches of one priority get their turn; `nil`: at the first one.
  public var cursor: String?

  public init(candidates: [Candidate] = [], cursor: String? = nil) {
    self.candidates = candidates
    self.cursor = cursor
  }
}
