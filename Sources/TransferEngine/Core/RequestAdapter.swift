/// Changes a request before it is sent. Called for every attempt, so that each can use current credentials.
public protocol RequestAdapter: Sendable {
  /// Returns the request to send.
  /// - Throws: anything; the attempt fails with `TransferError.hook(.adapter, …)`.
  func adapt(_ request: TransferRequest, for session: Session) async throws -> TransferRequest

  /// The same with the identity of the request. The engine calls this method; by default it calls `adapt(_:for:)`.
  func adapt(_ request: TransferRequest, using state: RequestAdapterState) async throws -> TransferRequest
}

extension RequestAdapter {
  public func adapt(_ request: TransferRequest, using state: RequestAdapterState) async throws -> TransferRequest {
    try await adapt(request, for: state.session)
  }
}
