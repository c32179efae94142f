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
    strategies = []
    for condition in [stored.strongETag, stored.strongDate] {
      guard let condition else { continue }
      strategies.append(
        isComparing
          ? RangeQuestion(overlapping: bytesOnDisk, condition: condition)
          : RangeQuestion(start: bytesOnDisk, bytesOnDisk: bytesOnDisk, condition: condition))
    }
    strategies.append(RangeQuestion(overlapping: bytesOnDisk))
    strategies.append(.whole)
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
    guard isRanged else { return }
    headers[.range] = "bytes=\(start)-"
    headers[.ifRange] = condition
  }
}
