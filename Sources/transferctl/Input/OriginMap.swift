import WireValues

/// The origin of each line of a request's body. Consecutive lines of a file take one entry.
struct OriginMap: Sendable {
  private var runs: [(start: Int, origin: JobLines.Origin)] = []
  private(set) var count = 0

  mutating func append(_ origin: JobLines.Origin) {
    defer { count += 1 }
    // checked: the run began at a lower count
    if let last = runs.last, last.origin.advanced(by: count - last.start) == origin { return }
    runs.append((count, origin))
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
    return runs[low].origin.advanced(by: index - runs[low].start)
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
