import WireValues

/// How many completed jobs have each result.
public struct JobResults: Codable, Equatable, Sendable {
  public var transferred = 0
  public var unchanged = 0
  public var skipped = 0

  public init() {}

  /// - Parameters:
  ///   - completed: the number of all completed jobs: those with no other result have transferred a file.
  ///   - others: the jobs whose result is not `transferred`.
  public init(completed: Int, unchanged: Int, skipped: Int) {
    self.unchanged = unchanged
    self.skipped = skipped
    transferred = max(0, completed.saturatingSum(-unchanged).saturatingSum(-skipped))
  }

  public subscript(result: JobResult) -> Int {
    get {
      switch result {
      case .transferred: transferred
      case .unchanged: unchanged
      case .skipped: skipped
      }
    }
    set {
      switch result {
      case .transferred: transferred = newValue
      case .unchanged: unchanged = newValue
      case .skipped: skipped = newValue
      }
    }
  }
}
