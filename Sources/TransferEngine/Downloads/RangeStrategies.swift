import HTTPTypes

/// The ways to request the rest of a file, the best first, each once. Pure.
///
/// Strong ETag with If-Range → strong date with If-Range → plain Range whose first bytes are fetched again and compared
/// → the whole file. Some servers respond 200 to one form and honour another.
struct RangeStrategies: Equatable, Sendable {
  /// Bytes on disk that are fetched again if no validator proves that they belong to the server's version.
  static let overlapBytes: Int64 = 64 * 1024
  /// After this many consecutive refusals the whole file is requested.
  static let maximumRefusals = 2

  private var strategies: [RangeQuestion]

  /// Asks for the whole file and for nothing else.
  static let whole = RangeStrategies(stored: nil, bytesOnDisk: 0, refusals: 0)

  /// - Parameters:
  ///   - bytesOnDisk: bytes that belong to the stored version.
  ///   - refusals: consecutive restarts that the server's refusal to resume caused.
  ///   - isComparing: every request includes the last bytes on disk, even with a strong validator.
  init(stored: Validators?, bytesOnDisk: Int64, refusals: Int, isComparing: Bool = false) {
    guard let stored, bytesOnDisk > 0, refusals < Self.maximumRefusals else {
      strategies = [.whole]
      return
    }
    strategies = stored.conditions.map { condition in
      isComparing
        ? RangeQuestion(overlapping: bytesOnDisk, condition: condition)
        : RangeQuestion(start: bytesOnDisk, bytesOnDisk: bytesOnDisk, condition: condition)
    }
    strategies.append(RangeQuestion(overlapping: bytesOnDisk))
    strategies.append(.whole)
  }

  /// For a file of which several ranges are on disk: its first gap that follows bytes on disk, or else the first one.
  /// - Parameters:
  ///   - pieces: not all bytes of the file.
  ///   - total: the file's length.
  init(stored: Validators?, pieces: ByteRanges, total: Int64, refusals: Int) {
    let gaps = pieces.gaps(upTo: total)
    guard let stored, !pieces.isEmpty, refusals < Self.maximumRefusals,
      let gap = gaps.first(where: { $0.lowerBound > 0 }) ?? gaps.first
    else {
      strategies = [.whole]
      return
    }
    strategies = stored.conditions.map {
      RangeQuestion(start: gap.lowerBound, bytesOnDisk: gap.lowerBound, condition: $0, end: gap.upperBound)
    }
    // checked: the first byte of the gap is positive
    if gap.lowerBound > 0, let before = pieces.range(at: gap.lowerBound - 1) {
      var question = RangeQuestion(overlapping: gap.lowerBound)
      question.start = max(question.start, before.lowerBound)
      question.end = gap.upperBound
      strategies.append(question)
    }
    strategies.append(.whole)
  }

  /// Without the ranges that no condition protects.
  var conditional: RangeStrategies {
    var copy = self
    copy.strategies.removeAll { $0.isRanged && $0.condition == nil }
    return copy
  }

  /// The current range.
  var question: RangeQuestion { strategies[0] }

  /// Moves to the next strategy; `false` if there is none.
  mutating func descend() -> Bool {
    guard strategies.count > 1 else { return false }
    strategies.removeFirst()
    return true
  }
}

extension RangeQuestion {
  /// The rest of the file, preceded by the last bytes on disk, to compare them.
  init(overlapping bytesOnDisk: Int64, condition: String? = nil) {
    let start = max(0, bytesOnDisk - RangeStrategies.overlapBytes)  // checked: bytesOnDisk is positive
    self.init(start: start, bytesOnDisk: bytesOnDisk, condition: condition)
  }

  /// Sets the header fields of this range.
  func apply(to headers: inout HTTPFields) {
    headers[.range] = nil
    headers[.ifRange] = nil
    unless?.applyCondition(to: &headers)
    guard isRanged else { return }
    headers[.range] = end.map { "bytes=\(start)-\($0 - 1)" } ?? "bytes=\(start)-"  // checked: end is after start
    headers[.ifRange] = condition
  }
}
