import HTTPTypes

/// The ways to ask for the rest of a file, the best first, and never the same one twice. Pure.
///
/// Strong ETag with If-Range → strong date with If-Range → plain Range whose first bytes are fetched again and compared
/// → the whole file. Real servers answer 200 to one form and honour the other.
struct ResumeLadder: Equatable, Sendable {
  /// How much of what is on the disk is fetched again where no validator vouches for it.
  static let overlapBytes: Int64 = 64 * 1024
  /// After this many refusals in a row the file is fetched whole, without asking.
  static let maximumRefusals = 2

  private var rungs: [RangeQuestion]

  /// Asks for the whole file and for nothing else.
  static let whole = ResumeLadder(stored: nil, bytesOnDisk: 0, refusals: 0)

  /// - Parameters:
  ///   - bytesOnDisk: bytes that are certainly those of the stored version.
  ///   - refusals: restarts in a row that the server's refusal to resume caused.
  ///   - isComparing: every question begins with the last bytes on the disk, whatever validator vouches for the version.
  init(stored: Validators?, bytesOnDisk: Int64, refusals: Int, isComparing: Bool = false) {
    guard let stored, bytesOnDisk > 0, refusals < Self.maximumRefusals else {
      rungs = [.whole]
      return
    }
    rungs = []
    for condition in [stored.strongETag, stored.strongDate] {
      guard let condition else { continue }
      rungs.append(
        isComparing
          ? RangeQuestion(overlapping: bytesOnDisk, condition: condition)
          : RangeQuestion(start: bytesOnDisk, bytesOnDisk: bytesOnDisk, condition: condition))
    }
    rungs.append(RangeQuestion(overlapping: bytesOnDisk))
    rungs.append(.whole)
  }

  /// The question to ask now.
  var question: RangeQuestion { rungs[0] }

  /// Goes to the next rung. `false` on the last one.
  mutating func descend() -> Bool {
    guard rungs.count > 1 else { return false }
    rungs.removeFirst()
    return true
  }
}

extension RangeQuestion {
  /// The rest, and before it the last bytes on the disk once more, to compare them.
  init(overlapping bytesOnDisk: Int64, condition: String? = nil) {
    let start = max(0, bytesOnDisk - ResumeLadder.overlapBytes)  // checked: bytesOnDisk is positive
    self.init(start: start, bytesOnDisk: bytesOnDisk, condition: condition)
  }

  /// The fields that ask it.
  func apply(to headers: inout HTTPFields) {
    headers[.range] = nil
    headers[.ifRange] = nil
    guard isRanged else { return }
    headers[.range] = "bytes=\(start)-"
    headers[.ifRange] = condition
  }
}
