import WireValues

/// The lines of a request that have a result. Results come in the order of the lines, so that a few ranges hold them.
struct AnsweredLines: Sendable {
  private var ranges: [ClosedRange<Int>] = []
  private let skipsGaps: Bool
  private(set) var count = 0
  private var highest = 0

  /// - Parameter skipsGaps: whether lines without a result, such as comments, may count as lines with one. False if
  ///   they could get a result when the request is repeated.
  init(skipsGaps: Bool) { self.skipsGaps = skipsGaps }

  /// - Returns: `false` if one of the lines has a result already.
  mutating func insert(_ lines: ClosedRange<Int>) -> Bool {
    guard lines.lowerBound > highest, let last = ranges.last else {
      guard !ranges.contains(where: { $0.overlaps(lines) }) else { return false }
      count += lines.count
      highest = max(highest, lines.upperBound)
      ranges.append(lines)
      return true
    }
    highest = lines.upperBound
    count += lines.count
    if skipsGaps || (CheckedNumber(last.upperBound) + 1).int == lines.lowerBound {
      ranges[ranges.count - 1] = last.lowerBound...lines.upperBound  // checked: the ranges ascend
    } else {
      ranges.append(lines)
    }
    return true
  }
}
