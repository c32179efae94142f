import WireValues

/// Compares a range of another source's file with the bytes on disk.
///
/// `@unchecked Sendable`: used on the transfer loop's thread while the transfer runs and by the crew afterwards; the loop's
/// continuation separates the two.
final class ProbeReceiver: TransferReceiver, @unchecked Sendable {
  private(set) var redirect: ResponseHead?
  private(set) var decision: ProbeDecision?
  private(set) var validators = Validators()
  /// A byte differs from the one on disk.
  private(set) var differs = false
  /// All bytes have arrived.
  var isComplete: Bool { offset == range.upperBound }

  private let range: Range<Int64>
  private let part: PartialFile
  /// What is on disk and can be compared.
  private let isOnDisk: Bool
  private let decide: @Sendable (ResponseHead) -> ProbeDecision
  private var offset: Int64

  /// - Parameters:
  ///   - range: what was asked for.
  ///   - isOnDisk: whether these bytes are on disk; otherwise only the head counts.
  init(
    range: Range<Int64>, isOnDisk: Bool, part: PartialFile,
    decide: @escaping @Sendable (ResponseHead) -> ProbeDecision
  ) {
    self.range = range
    self.isOnDisk = isOnDisk
    self.part = part
    self.decide = decide
    offset = range.lowerBound
  }

  func receive(_ head: ResponseHead) throws(TransferError) -> HeadVerdict {
    if head.isRedirect {
      redirect = head
      return .dropBody
    }
    let decision = decide(head)
    self.decision = decision
    validators = Validators(of: head)
    return switch decision {
    case .compare: .takeBody
    case .wait: .dropBody
    case .drop: .stop
    }
  }

  func receive(_ bytes: UnsafeRawBufferPointer) throws(TransferError) -> BodyVerdict {
    let rest = range.upperBound - offset  // checked: the offset is within the range
    guard Int64(bytes.count) <= rest else {
      throw .response(.malformed("more bytes arrived than were announced"))
    }
    if isOnDisk, try !part.holds(bytes, at: offset) {
      differs = true
      return .stop
    }
    offset += Int64(bytes.count)  // checked: at most the rest
    return .taken
  }
}
