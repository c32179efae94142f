import HTTPTypes
import WireValues

/// The decision whether another source has the same file, from the head of its response to a range. Pure.
///
/// The length has to agree. Then either the strong ETag has to be equal, or a digest has to be known that decides in the end.
/// Nothing else proves that bytes of two servers belong together.
enum ProbeDecision: Equatable, Sendable {
  /// The body is the requested range; its bytes are compared.
  case compare
  /// The source is not asked again.
  /// - Parameter isDisagreement: the source that it was compared with may be the wrong one.
  case drop(reason: String, isDisagreement: Bool)
  /// The server has enough to do.
  case wait(status: Int)

  /// - Parameters:
  ///   - range: what was asked for.
  ///   - total: the file's length.
  ///   - validators: of the bytes on disk.
  ///   - hasDigest: a digest of the file or of its pieces is known.
  ///   - expected: digests that the file must have.
  init(
    head: ResponseHead, range: Range<Int64>, total: Int64, validators: Validators, hasDigest: Bool,
    expected: [ExpectedDigest]
  ) {
    func drop(_ reason: String) -> Self { .drop(reason: reason, isDisagreement: false) }
    func disagree(_ reason: String) -> Self { .drop(reason: reason, isDisagreement: true) }
    switch head.status {
    case 206: break
    case _ where TransientStatus.overloaded.contains(head.status):
      self = .wait(status: head.status)
      return
    case 416:
      self = disagree("it has a file of another length (416)")
      return
    case 200, 203:
      if let length = try? head.contentLength(), length != total {
        self = disagree("its file has \(length) bytes, not \(total)")
      } else {
        self = drop("it sends no ranges")
      }
      return
    default:
      self = drop("it responded \(head.status)")
      return
    }
    guard let field = head.headers[.contentRange], case .part(let first, let last, let theirs)? = ContentRange(field)
    else {
      self = drop("it sent a part without saying which")
      return
    }
    // checked: the range is not empty
    guard first == range.lowerBound, last == range.upperBound - 1, head.contentCoding == nil else {
      self = drop("it sent another part than was asked for")
      return
    }
    guard let theirs, theirs == total else {
      self =
        theirs.map { disagree("its file has \($0) bytes, not \(total)") }
        ?? drop("it does not say how long its file is")
      return
    }
    let declared = DeclaredDigests.of(head)
    for digest in declared {
      guard let own = expected.first(where: { $0.algorithm == digest.algorithm }), own.hex != digest.hex else {
        continue
      }
      self = disagree("it declares another \(digest.algorithm.rawValue)")
      return
    }
    let hasEqualTag = validators.strongETag.map { $0 == Validators(of: head).strongETag } ?? false
    guard hasDigest || hasEqualTag else {
      self = drop("nothing proves that its file is the same: no checksum is known, and its ETag is another one")
      return
    }
    self = .compare
  }
}
