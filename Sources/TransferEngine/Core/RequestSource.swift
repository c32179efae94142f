import FoundationEssentials

/// Describes a request, once for every attempt.
struct RequestSource: Sendable {
  private let make: @Sendable () throws -> TransferRequest

  init(_ make: @escaping @Sendable () throws -> TransferRequest) { self.make = make }

  init(_ convertible: any URLRequestConvertible) {
    self.init { try convertible.asURLRequest() }
  }

  /// - Throws: a `TransferError` unchanged; any other error as `.hook(.convertible, …)`.
  func request() throws(TransferError) -> TransferRequest {
    do {
      return try make()
    } catch {
      throw .of(.convertible, error)
    }
  }
}
