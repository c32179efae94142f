import HTTPTypes
import WireValues

/// The decision whether a response brings the bytes of a segment. Pure. Stricter than `ResumeDecision`: what is not exactly
/// the requested part of the same version is not used, because the first connection can fetch it.
enum SegmentDecision: Equatable, Sendable {
  /// The body begins with the segment's first byte.
  /// - Parameter end: the offset after its last byte.
  case take(end: Int64)
  /// The server does not serve parts of this version, so no other connection would help.
  case refuse(reason: String)
  /// The server has enough to do.
  case wait(status: Int, Duration?)

  /// - Parameters:
  ///   - start: the first requested byte.
  ///   - total: the file's length.
  ///   - validators: of the bytes on disk.
  ///   - retryAfter: the delay of the response's `Retry-After`.
  init(head: ResponseHead, start: Int64, total: Int64, validators: Validators, retryAfter: Duration?) {
    switch head.status {
    case 206: self = Self.part(head, start, total, validators)
    case _ where TransientStatus.overloaded.contains(head.status): self = .wait(status: head.status, retryAfter)
    case 200, 203: self = .refuse(reason: "the server sent the whole file in response to a range")
    default: self = .refuse(reason: "the server responded \(head.status) to a range")
    }
  }

  private static func part(
    _ head: ResponseHead, _ start: Int64, _ total: Int64, _ validators: Validators
  ) -> SegmentDecision {
    guard let field = head.headers[.contentRange], case .part(let first, let last, let theirs)? = ContentRange(field)
    else { return .refuse(reason: "the server sent a part without saying which") }
    guard head.contentCoding == nil else { return .refuse(reason: "the server sent a part of an encoded form") }
    guard first == start, last < total, theirs ?? total == total else {
      return .refuse(reason: "the server sent another part than was asked for (\(field))")
    }
    let theirValidators = Validators(of: head)
    guard !validators.contradict(theirValidators) else {
      return .refuse(reason: "the server sent a part of another version")
    }
    // A server that ignores If-Range may send any version. A 206 has the ETag that a 200 would have (RFC 9110 §15.3.7).
    guard validators.conditions.isEmpty || validators.agreeStrongly(with: theirValidators) else {
      return .refuse(reason: "the server sent a part without saying of which version")
    }
    guard let end = (CheckedNumber(last) + 1).value, let length = (CheckedNumber(end) - first).value else {
      return .refuse(reason: "the server sent a part beyond the largest file")
    }
    if let announced = try? head.contentLength(), announced != length {
      return .refuse(reason: "the server sent \(announced) bytes as a part of \(length)")
    }
    return .take(end: end)
  }
}
