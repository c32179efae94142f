import WireValues

/// The origin of each line of a request's body. Consecutive lines of a file take one entry.
struct OriginMap: Sendable {
  private struct Run {
    let start: Int
    let origin: JobLines.Origin
    /// Whether every line of the run has the same origin, as those of a glob; otherwise the origins ascend.
    var isConstant = false

    func origin(at index: Int) -> JobLines.Origin? {
      // checked: the run began at a lower index
      isConstant ? origin : origin.advanced(by: index - start)
    }
  }

  private var runs: [Run] = []
  private(set) var count = 0

  mutating func append(_ origin: JobLines.Origin) {
    defer { count += 1 }
    if let last = runs.last {
      if last.origin(at: count) == origin { return }
      if (CheckedNumber(last.start) + 1).int == count, last.origin == origin {
        runs[runs.count - 1].isConstant = true  // checked: there is a last run
        return
      }
    }
    runs.append(Run(start: count, origin: origin))
  }

  /// - Parameter line: from 1.
  /// - Returns: `nil` if there is no such line.
  func origin(ofLine line: Int) -> JobLines.Origin? {
    guard line >= 1, line <= count else { return nil }
    let index = line - 1  // checked: line is at least 1
    var (low, high) = (0, runs.count)
    while high - low > 1 {  // checked: indices of an array
      let middle = (low + high) / 2  // checked: indices of an array
      if runs[middle].start <= index { low = middle } else { high = middle }
    }
    return runs[low].origin(at: index)
  }

  /// All origins, in their order.
  var all: [JobLines.Origin] { (0..<count).compactMap { origin(ofLine: $0 + 1) } }
}

extension JobLines.Origin {
  /// The origin that follows after so many lines; `nil` for origins that do not form a sequence.
  fileprivate func advanced(by count: Int) -> Self? {
    switch self {
    case .line(let number): .line(number.saturatingSum(count))
    case .item(let number): .item(number.saturatingSum(count))
    case .argument, .path: count == 0 ? self : nil
    }
  }
}
