import HTTPTypes
import WireValues

/// The decision how a response is combined with the bytes on disk. Pure: status and fields in, one decision out (RFC
/// 9110 §13.1.5, §14, §15.3.7, §15.5.17).
enum ResumeDecision: Equatable, Sendable {
  /// Append the body, after `overlap` bytes that must equal those on disk.
  case append(overlap: Int64, total: Int64?)
  /// The body is the whole file, perhaps of another version: create a new part file.
  case startOver(total: Int64?)
  /// All bytes are already on disk.
  case alreadyComplete
  /// The destination is the server's version (304 in response to a conditional request).
  case unchanged
  /// The body cannot be combined with the bytes on disk: try the next strategy.
  case nextStrategy(reason: String)
  /// No other range would change this response.
  case fail(TransferError)

  static func == (lhs: ResumeDecision, rhs: ResumeDecision) -> Bool { "\(lhs)" == "\(rhs)" }

  /// - Parameters:
  ///   - stored: the validators of the bytes on disk.
  ///   - storedTotal: the length of the whole file as it was announced first.
  ///   - retryAfter: the delay of the response's `Retry-After`.
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
    // Stored bytes are not replaced after a success status that does not respond to a Range, such as 202 or 204.
    case 201...205 where !question.isRanged, 207...299 where !question.isRanged:
      self = Self.whole(head, length, question, stored, theirs)
    case 206 where question.isRanged:
      self = Self.part(head, length, question, stored, storedTotal, theirs)
    case 206:
      self = .fail(.response(.unrequestedPartialContent))
    case 416 where question.isRanged:
      self = Self.unsatisfiable(head, question, stored, storedTotal, theirs)
    case 304 where question.unless != nil:
      self = .unchanged
    case 412 where question.isRanged:
      self = .nextStrategy(reason: "the precondition failed (412)")
    default:
      self = .fail(.response(.unacceptableStatus(head.status, retryAfter: retryAfter)))
    }
  }

  private static func whole(
    _ head: ResponseHead, _ length: Int64?, _ question: RangeQuestion, _ stored: Validators?, _ theirs: Validators
  ) -> ResumeDecision {
    // 204 and 205 have no body (RFC 9110 §15.3.5, §15.3.6).
    let total = [204, 205].contains(head.status) ? 0 : head.contentCoding == nil ? length : nil
    // The same version in response to If-Range: the server ignores one of the fields. A plain Range may still work.
    if question.isRanged, question.condition != nil, let stored, stored.agreeStrongly(with: theirs) {
      return .nextStrategy(reason: "the server ignores Range or If-Range")
    }
    return .startOver(total: total)
  }

  private static func part(
    _ head: ResponseHead, _ contentLength: Int64?, _ question: RangeQuestion, _ stored: Validators?,
    _ storedTotal: Int64?, _ theirs: Validators
  ) -> ResumeDecision {
    guard let field = head.headers[.contentRange], let range = ContentRange(field) else {
      return .nextStrategy(reason: "the server sent a part without saying which (206 without a usable Content-Range)")
    }
    guard case .part(let first, let last, let total) = range else {
      return .nextStrategy(reason: "the server sent a part without saying which")
    }
    guard head.contentCoding == nil else {
      return .nextStrategy(reason: "the server sent a part of an encoded form")
    }
    guard first == question.start else {
      return .nextStrategy(reason: "the server sent a part that starts at \(first) instead of \(question.start)")
    }
    if let storedTotal, let total, storedTotal != total {
      return .nextStrategy(reason: "the file's length changed (\(storedTotal) → \(total))")
    }
    if let stored, stored.contradict(theirs) {
      return .nextStrategy(reason: "the file changed on the server (another ETag or date)")
    }
    // A server that ignores If-Range may send any version; a 206 has the ETag that a 200 would have (RFC 9110
    // §15.3.7).
    if question.condition != nil, question.overlap == 0, stored?.strongETag != nil, theirs.etag == nil {
      return .nextStrategy(reason: "the server sent a part without saying of which version")
    }
    if let limit = total ?? storedTotal, last >= limit {
      return .nextStrategy(reason: "the server sent a part beyond the file's end")
    }
    // Nothing after the overlap, and not the end of the file: the same request would return the same bytes again.
    guard let length = (CheckedNumber(last) - first + 1).value, let end = (CheckedNumber(last) + 1).value else {
      return .nextStrategy(reason: "the server sent a part beyond the largest file")
    }
    if let contentLength, contentLength != length {
      return .nextStrategy(reason: "the server sent \(contentLength) bytes as a part of \(length)")
    }
    guard question.overlap == 0 || length > question.overlap || length == question.overlap && total == end else {
      return .nextStrategy(reason: "the server sent less than was asked for")
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
    else { return .nextStrategy(reason: "the server cannot serve the rest (416)") }
    return .alreadyComplete
  }
}
