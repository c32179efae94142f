/// An adapter from a closure.
public struct Adapter: RequestInterceptor {
  /// Returns the request to send. An error that it throws fails the attempt, and retriers are asked.
  public typealias Closure = @Sendable (TransferRequest, Session) async throws -> TransferRequest

  private let closure: Closure

  /// An adapter that calls this closure for every attempt, on one of Swift's threads.
  public init(_ closure: @escaping Closure) { self.closure = closure }

  public func adapt(_ request: TransferRequest, for session: Session) async throws -> TransferRequest {
    try await closure(request, session)
  }
}
