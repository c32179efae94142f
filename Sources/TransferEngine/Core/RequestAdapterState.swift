/// What an adapter can know about the request that it adapts.
public struct RequestAdapterState: Sendable {
  /// Identifies the request in events. All attempts of a request have the same.
  public let requestID: RequestID
  /// The session that sends the request.
  public let session: Session

  /// A state made by hand, for example to call an adapter from a test or from another adapter.
  public init(requestID: RequestID, session: Session) {
    self.requestID = requestID
    self.session = session
  }
}
