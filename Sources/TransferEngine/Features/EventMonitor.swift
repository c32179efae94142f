/// Watches requests. One method, one enum: new events need no new methods.
public protocol EventMonitor: Sendable {
  /// Called in the order things happen to one request, from whatever thread they happen on; must return quickly.
  func request(_ id: RequestID, did event: RequestEvent)
}

/// What happened to a request, in the past tense.
public enum RequestEvent: Sendable {
  case resume
  case suspend
  case cancel
  /// An attempt's request, adapted, is about to be sent.
  case send(TransferRequest)
  case redirect(from: RequestURL, to: RequestURL)
  /// The first request of the session to a host whose word is taken unproved (`DisabledTrustEvaluator`).
  case skipServerTrust(host: String)
  case receiveHead(ResponseHead)
  /// The stored bytes could not be gone on from that way; the next rung is tried.
  case refuseToResume(reason: String)
  /// A transfer ended, with what it cost.
  case gatherMetrics(TransferMetrics)
  /// An attempt failed and another follows after the delay.
  case retry(after: Duration, dueTo: TransferError)
  case fail(TransferError)
  case finish
}

/// Names a request in events; unique in the process.
public struct RequestID: Hashable, Sendable, CustomStringConvertible {
  public let rawValue: UInt64
  public var description: String { "request \(rawValue)" }
}
