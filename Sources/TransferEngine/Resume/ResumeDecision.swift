import HTTPTypes
import WireValues

/// What was asked of the server to go on with a download.
struct RangeQuestion: Equatable, Sendable {
  /// First byte asked for; 0 without a `Range` field.
  var start: Int64
  /// Bytes on the disk: where appending would begin. More than `start` when the end of them is fetched again.
  var bytesOnDisk: Int64
  /// `If-Range`'s value.
  var condition: String?

  /// The whole file, unconditionally.
  static let whole = RangeQuestion(start: 0, bytesOnDisk: 0)

  var isRanged: Bool { bytesOnDisk > 0 }
  /// Bytes fetched again to compare them with the disk.
  var overlap: Int64 { bytesOnDisk - start }  // checked: 0 ≤ start ≤ bytesOnDisk wherever a question is made
}

/// What an answer means for the bytes on the disk. Pure: status and fields in, one decision out
/// (RFC 9110 §13.1.5, §14, §15.3.7, §15.5.17).
enum ResumeDecision: Equatable, Sendable {
  /// The body goes on where the disk ends, after `overlap` bytes that must equal what is there.
  case append(overlap: Int64, total: Int64?)
  /// The body is the whole file, of a version that may be new: a fresh part file.
  case startOver(total: Int64?)
  /// All bytes are on the disk already.
  case alreadyComplete
  /// These bytes cannot be combined with what is there; ask in another way.
  case nextRung(reason: String)
  /// Not an answer that any question could improve.
  case fail(TransferError)

  static func == (lhs: ResumeDecision, rhs: ResumeDecision) -> Bool { "\(lhs)" == "\(rhs)" }

  /// - Parameters:
  ///   - stored: the validators of the bytes on the disk.
  ///   - storedTotal: the whole file's length as first announced.
  ///   - retryAfter: the answer's `Retry-After`, read.
  init(
    head: ResponseHead, question: RangeQuestion, stored: Validators?, storedTotal: Int64?, retryAfter: Duration?
  ) {
    let length: Int64?
    do throws(TransferError) {
      length = try head.contentLength()
    } catch {
      self = .fail(error)
      return
    }
    let theirs = Validators(of: head)
    switch head.status {
    case 200, 203:
      self = Self.whole(head, length, question, stored, theirs)
    case 206 where question.isRanged:
      self = Self.part(head, length, question, stored, storedTotal, theirs)
    case 206:
      self = .fail(.response(.unrequestedPartialContent))
    case 416 where question.isRanged:
      self = Self.unsatisfiable(head, question, stored, storedTotal, theirs)
    case 412 where question.isRanged:
      self = .nextRung(reason: "the precondition failed (412)")
    default:
      self = .fail(.response(.unacceptableStatus(head.status, retryAfter: retryAfter)))
    }
  }

  private static func whole(
    _ head: ResponseHead, _ length: Int64?, _ question: RangeQuestion, _ stored: Validators?, _ theirs: Validators
  ) -> ResumeDecision {
    let total = head.contentCoding == nil ? length : nil
    // The same version in answer to If-Range: the server ignores one of the fields. A plain Range may still work.
    if question.isRanged, question.condition != nil, let stored, stored.agreeStrongly(with: theirs) {
      return .nextRung(reason: "the server ignores Range or If-Range")
    }
    return .startOver(total: total)
  }

  private static func part(
    _ head: ResponseHead, _ contentLength: Int64?, _ question: RangeQuestion, _ stored: Validators?,
    _ storedTotal: Int64?, _ theirs: Validators
  ) -> ResumeDecision {
    guard let field = head.headers[.contentRange], let range = ContentRange(field) else {
      return .nextRung(reason: "the server sent a part without saying which (206 without a usable Content-Range)")
    }
    guard case .part(let first, let last, let total) = range else {
      return .nextRung(reason: "the server sent a part without saying which")
    }
    guard head.contentCoding == nil else {
      return .nextRung(reason: "the server sent a part of an encoded form")
    }
    guard first == question.start else {
      return .nextRung(reason: "the server sent a part that starts at \(first) instead of \(question.start)")
    }
    if let storedTotal, let total, storedTotal != total {
      return .nextRung(reason: "the file's length changed (\(storedTotal) → \(total))")
    }
    if let stored, stored.contradict(theirs) {
      return .nextRung(reason: "the file changed on the server (another ETag or date)")
    }
    if let limit = total ?? storedTotal, last >= limit {
      return .nextRung(reason: "the server sent a part beyond the file's end")
    }
    // Nothing beyond the overlap, and it is not the end: asking on would bring the same again and again.
    guard let length = (CheckedNumber(last) - first + 1).value, let end = (CheckedNumber(last) + 1).value else {
      return .nextRung(reason: "the server sent a part beyond the largest file")
    }
    if let contentLength, contentLength != length {
      return .nextRung(reason: "the server sent \(contentLength) bytes as a part of \(length)")
    }
    guard question.overlap == 0 || length > question.overlap || length == question.overlap && total == end else {
      return .nextRung(reason: "the server sent less than was asked for")
    }
    return .append(overlap: question.overlap, total: total ?? storedTotal)
  }

  private static func unsatisfiable(
    _ head: ResponseHead, _ question: RangeQuestion, _ stored: Validators?, _ storedTotal: Int64?,
    _ theirs: Validators
  ) -> ResumeDecision {
    let isSameVersion = stored.map { !$0.contradict(theirs) } ?? false
    guard let field = head.headers[.contentRange], case .unsatisfied(let length)? = ContentRange(field),
      length == question.bytesOnDisk, storedTotal == nil || storedTotal == length, isSameVersion
    else { return .nextRung(reason: "the server cannot serve the rest (416)") }
    return .alreadyComplete
  }
}

/// `Content-Range` (RFC 9110 §14.4): bytes only; anything else is `nil`.
enum ContentRange: Equatable {
  /// `bytes first-last/total`; `nil` total for `*`. `last` is below `Int64.max`, so that the part has an end.
  case part(first: Int64, last: Int64, total: Int64?)
  /// `bytes */total`
  case unsatisfied(total: Int64)

  /// Longer than any value with three numbers of 19 digits.
  private static let maximumBytes = 128

  init?(_ text: String) {
    guard text.utf8.count <= Self.maximumBytes else { return nil }
    let words = text.split(separator: " ", omittingEmptySubsequences: true)
    guard words.count == 2, words[0].lowercased() == "bytes" else { return nil }
    let halves = words[1].split(separator: "/", maxSplits: 1, omittingEmptySubsequences: false)
    guard halves.count == 2 else { return nil }
    let total = CheckedNumber(digits: halves[1]).value
    guard total != nil || halves[1] == "*" else { return nil }
    if halves[0] == "*" {
      guard let total else { return nil }
      self = .unsatisfied(total: total)
      return
    }
    let ends = halves[0].split(separator: "-", omittingEmptySubsequences: false)
    guard ends.count == 2, let first = CheckedNumber(digits: ends[0]).value,
      let last = CheckedNumber(digits: ends[1]).value, first <= last, last < total ?? .max
    else { return nil }
    self = .part(first: first, last: last, total: total)
  }
}
