import TransferAPI
import WireValues

/// What the jobs of a wait have done, after their end.
struct WaitResults: Equatable, Sendable {
  var completed = JobResults()
  /// Jobs that failed, were cancelled or were removed.
  var failed = 0

  /// The last line of a wait. Scripts read it, so its words are the same for every number.
  var line: String {
    let counts = JobResult.allCases.map { completed[$0] } + [failed]
    let total = counts.reduce(0) { $0.saturatingSum($1) }
    let words = JobResult.allCases.map(\.rawValue) + ["failed"]
    return "\(total) jobs: " + zip(counts, words).map { "\($0) \($1)" }.joined(separator: ", ")
  }
}
