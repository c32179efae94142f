import WireValues

/// A set of bytes of a file, as ranges that are sorted and neither overlap nor touch. Pure.
///
/// The offsets come from stored records and from servers. They are never negative, so that differences cannot overflow.
struct ByteRanges: Equatable, Sendable {
  private(set) var ranges: [Range<Int64>] = []

  /// More ranges than any download leaves: a stored record that has more is refused.
  static let maximumStored = 4096

  /// No bytes.
  init() {}

  /// The bytes of one range.
  init(_ range: Range<Int64>) { insert(range) }

  var isEmpty: Bool { ranges.isEmpty }

  /// How many bytes there are.
  var count: Int64 { ranges.reduce(0) { $0.saturatingSum($1.length) } }

  /// The offset after the last byte; 0 without bytes.
  var upperBound: Int64 { ranges.last?.upperBound ?? 0 }

  /// The ranges that are missing between 0 and the end.
  func gaps(upTo end: Int64) -> [Range<Int64>] {
    var gaps: [Range<Int64>] = []
    var position: Int64 = 0
    for range in ranges where range.lowerBound < end {
      // checked: position < lowerBound
      if position < range.lowerBound { gaps.append(position..<range.lowerBound) }
      position = range.upperBound
    }
    // checked: position < end
    if position < end { gaps.append(position..<end) }
    return gaps
  }

  /// The range that has this byte, if it is in the set.
  func range(at offset: Int64) -> Range<Int64>? {
    let index = firstIndex(endingAtOrAfter: offset.saturatingSum(1))
    guard index < ranges.count, ranges[index].contains(offset) else { return nil }
    return ranges[index]
  }

  /// Adds bytes. Negative offsets and empty ranges add nothing.
  mutating func insert(_ range: Range<Int64>) {
    guard range.lowerBound >= 0, !range.isEmpty else { return }
    // Ranges that touch the new one become part of it.
    let first = firstIndex(endingAtOrAfter: range.lowerBound)
    var next = first
    var (lower, upper) = (range.lowerBound, range.upperBound)
    while next < ranges.count, ranges[next].lowerBound <= upper {
      lower = min(lower, ranges[next].lowerBound)
      upper = max(upper, ranges[next].upperBound)
      next += 1  // checked: an index of an array
    }
    // checked: first ≤ next, and lower ≤ the lower bound of a range
    ranges.replaceSubrange(first..<next, with: CollectionOfOne(lower..<upper))
  }

  /// Removes bytes.
  mutating func remove(_ range: Range<Int64>) {
    guard !range.isEmpty else { return }
    ranges = ranges.flatMap { existing -> [Range<Int64>] in
      guard existing.overlaps(range) else { return [existing] }
      // checked: the bounds are between those of the existing range
      let before = existing.lowerBound..<max(existing.lowerBound, range.lowerBound)
      // checked: the ranges overlap
      let after = min(existing.upperBound, range.upperBound)..<existing.upperBound
      return [before, after].filter { !$0.isEmpty }
    }
  }

  /// Whether any byte of the range is in the set.
  func overlaps(_ range: Range<Int64>) -> Bool {
    let index = firstIndex(endingAtOrAfter: range.lowerBound.saturatingSum(1))
    return index < ranges.count && ranges[index].overlaps(range)
  }

  mutating func formUnion(_ other: ByteRanges) {
    for range in other.ranges { insert(range) }
  }

  /// The bytes before an offset.
  func clamped(to end: Int64) -> ByteRanges {
    var clamped = ByteRanges()
    clamped.ranges = ranges.compactMap { range in
      range.lowerBound < end ? range.lowerBound..<min(range.upperBound, end) : nil
    }
    return clamped
  }

  /// The index of the first range that ends at the offset or after it.
  private func firstIndex(endingAtOrAfter offset: Int64) -> Int {
    var (low, high) = (0, ranges.count)
    while low < high {
      let middle = low + (high - low) / 2  // checked: indices of an array
      if ranges[middle].upperBound < offset { low = middle + 1 } else { high = middle }
    }
    return low
  }
}

extension Range<Int64> {
  /// The number of bytes. The bounds of a file's ranges are never negative.
  var length: Int64 { upperBound - lowerBound }  // checked: 0 ≤ lowerBound ≤ upperBound
}

/// Encoded as a list of pairs: `[[first, end], …]`, sorted.
extension ByteRanges: Codable {
  init(from decoder: any Decoder) throws {
    var container = try decoder.unkeyedContainer()
    var pairs: [Range<Int64>] = []
    while !container.isAtEnd {
      let pair = try container.decode([Int64].self)
      guard pair.count == 2, pair[0] >= pairs.last?.upperBound ?? 0, pair[0] < pair[1], pairs.count < Self.maximumStored
      else {
        throw DecodingError.dataCorruptedError(in: container, debugDescription: "these are not sorted ranges of bytes")
      }
      pairs.append(pair[0]..<pair[1])
    }
    for pair in pairs { insert(pair) }
  }

  func encode(to encoder: any Encoder) throws {
    var container = encoder.unkeyedContainer()
    for range in ranges { try container.encode([range.lowerBound, range.upperBound]) }
  }
}
