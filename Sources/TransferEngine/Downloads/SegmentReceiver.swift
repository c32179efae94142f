import HTTPTypes
import WireValues

/// Receives one segment of a file and writes it to the part file.
///
/// `@unchecked Sendable`: used on the transfer loop's thread while the transfer runs and by the crew afterwards; the loop's
/// continuation separates the two.
final class SegmentReceiver: TransferReceiver, @unchecked Sendable {
  private(set) var redirect: ResponseHead?
  private(set) var decision: SegmentDecision?
  /// The disk refused a write.
  private(set) var failure: TransferError?
  /// Body bytes that were written.
  private(set) var received: Int64 = 0

  /// Whether the body ended before the segment did.
  var isShort: Bool {
    guard case .take? = decision, let limit = board.limit(of: segment) else { return false }
    return offset < min(end, limit)
  }

  private let board: SegmentBoard
  private let segment: Int
  private let part: PartialFile
  private let validators: Validators
  private let confirms: Bool
  private let didWrite: @Sendable (SegmentBoard.Progress, Int64) -> Void
  private let start: Int64
  private var offset: Int64
  private var end: Int64 = 0

  /// - Parameters:
  ///   - start: the first requested byte.
  ///   - validators: of the bytes on disk.
  ///   - confirms: the segment shows whether the first connection's server serves ranges.
  ///   - didWrite: called on the loop's thread after each write, with the number of written bytes.
  init(
    board: SegmentBoard, segment: Int, start: Int64, part: PartialFile, validators: Validators, confirms: Bool = true,
    didWrite: @escaping @Sendable (SegmentBoard.Progress, Int64) -> Void
  ) {
    self.board = board
    self.segment = segment
    self.start = start
    self.part = part
    self.validators = validators
    self.confirms = confirms
    self.didWrite = didWrite
    offset = start
  }

  func receive(_ head: ResponseHead) throws(TransferError) -> HeadVerdict {
    if head.isRedirect {
      redirect = head
      return .dropBody
    }
    let decision = SegmentDecision(
      head: head, start: start, total: board.total, validators: validators, retryAfter: head.retryAfter)
    self.decision = decision
    switch decision {
    case .take(let end):
      self.end = end
      return .takeBody
    case .wait: return .dropBody
    case .refuse: return .stop
    }
  }

  func receive(_ bytes: UnsafeRawBufferPointer) throws(TransferError) -> BodyVerdict {
    // A server may answer to a range and send nothing.
    if received == 0, confirms { board.confirm() }
    guard let limit = board.limit(of: segment), offset < limit else { return .stop }
    let afterwards = try (CheckedNumber(offset) + bytes.count).orThrow(Self.tooLong)
    guard afterwards <= end else { throw Self.tooLong }
    let count = Int(min(Int64(bytes.count), limit - offset))  // checked: offset < limit
    do throws(TransferError) {
      try part.write(.init(rebasing: bytes[..<count]), at: offset)
    } catch {
      failure = error
      throw error
    }
    offset += Int64(count)  // checked: at most `afterwards`
    received += Int64(count)  // checked: at most the offset
    didWrite(board.advance(segment, to: offset), Int64(count))
    return offset == limit && offset < end ? .stop : .taken
  }

  private static let tooLong = TransferError.response(.malformed("more bytes arrived than were announced"))
}
