import TransferAPI
import WireValues

/// The ids of added jobs in the order of their lines. Consecutive ids take no more memory than one.
struct AddedIDs: Equatable, Sendable {
  private var runs: [ClosedRange<Int64>] = []
  private(set) var count = 0

  mutating func append(_ ids: ClosedRange<Int64>) {
    count += ids.count
    if let last = runs.last, (CheckedNumber(last.upperBound) + 1).value == ids.lowerBound {
      runs[runs.count - 1] = last.lowerBound...ids.upperBound  // checked: the runs ascend
    } else {
      runs.append(ids)
    }
  }

  /// All of them: takes memory for each.
  var all: [JobID] { runs.flatMap { $0.map { JobID($0) } } }
}
