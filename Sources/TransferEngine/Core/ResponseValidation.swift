import HTTPTypes
import WireValues

/// The result of a validation.
public typealias ValidationResult = Result<Void, any Error>

extension Result where Success == Void, Failure == any Error {
  /// The response is accepted.
  public static var success: Self { .success(()) }
}

/// The validations that need no closure.
enum ResponseValidation {
  static func status(_ acceptable: some Sequence<Int>, _ head: ResponseHead) -> ValidationResult {
    guard !acceptable.contains(head.status) else { return .success }
    return .failure(head.refusal)
  }

  /// Only `*/*` accepts a response without a Content-Type.
  static func contentType(_ acceptable: [String], _ head: ResponseHead) -> ValidationResult {
    // The common case: no header has to be parsed.
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

  /// The types in the request's Accept; all types if it has none (RFC 9110 §12.5.1).
  static func acceptable(_ request: TransferRequest) -> [String] {
    let names = request.headers[values: .accept].flatMap { $0.split(separator: ",") }
      .map { String($0.trimmingBlanks()) }.filter { !$0.isEmpty }
    return names.isEmpty ? ["*/*"] : names
  }
}
