import FoundationEssentials
import HTTPTypes

/// What a check of a response says.
public typealias ValidationResult = Result<Void, any Error>

extension Result where Success == Void, Failure == any Error {
  /// Nothing to complain of.
  public static var success: Self { .success(()) }
}

/// The checks that need no closure.
enum ResponseValidation {
  static func status(
    _ acceptable: some Sequence<Int>, _ head: ResponseHead
  ) -> ValidationResult {
    guard !acceptable.contains(head.status) else { return .success }
    let retryAfter = head.headers[.retryAfter].flatMap { RetryAfter.delay(from: $0, now: Date()) }
    return .failure(TransferError.response(.unacceptableStatus(head.status, retryAfter: retryAfter)))
  }

  /// A type without a name is accepted by `*/*` alone.
  static func contentType(_ acceptable: [String], _ head: ResponseHead) -> ValidationResult {
    // What most requests say, who name no type: nothing has to be read for it.
    if acceptable.contains("*/*") { return .success }
    let declared = head.headers[.contentType]
    let ranges = acceptable.compactMap(MediaRange.init)
    if let type = declared.flatMap(MediaRange.init) {
      if ranges.contains(where: { $0.matches(type) }) { return .success }
    } else if ranges.contains(where: \.isAnything) {
      return .success
    }
    return .failure(TransferError.response(.unacceptableContentType(declared, acceptable: acceptable)))
  }

  /// The types that the request's Accept names; all where it has none (RFC 9110 §12.5.1).
  static func acceptable(_ request: TransferRequest) -> [String] {
    let names = request.headers[values: .accept].flatMap { $0.split(separator: ",") }
      .map { String($0.trimmingBlanks()) }.filter { !$0.isEmpty }
    return names.isEmpty ? ["*/*"] : names
  }
}

/// `type/subtype` of a Content-Type or an Accept, in lower case, without its parameters.
struct MediaRange: Equatable {
  let type: Substring
  let subtype: Substring

  init?(_ text: String) {
    let essence = text.lowercased().prefix { $0 != ";" }
    let halves = essence.split(separator: "/", omittingEmptySubsequences: false).map { $0.trimmingBlanks() }
    guard halves.count == 2, halves.allSatisfy({ !$0.isEmpty }) else { return nil }
    type = halves[0]
    subtype = halves[1]
  }

  var isAnything: Bool { type == "*" && subtype == "*" }

  func matches(_ other: MediaRange) -> Bool {
    (type == "*" || type == other.type) && (subtype == "*" || subtype == other.subtype)
  }
}
