/// One event in the life of a request.
public enum RequestEvent: Sendable {
  /// The request started, or continued after `suspend()`.
  case resume
  /// The request was suspended: its transfer is held, and its connection stays open.
  case suspend
  /// `cancel()` was called; `.fail(.cancelled)` follows at the end.
  case cancel
  /// The adapters changed the request of an attempt. Sent for requests that have adapters.
  case adapt(from: TransferRequest, to: TransferRequest)
  /// An adapter threw; the attempt fails with this error, and nothing is sent.
  case failToAdapt(TransferRequest, dueTo: TransferError)
  /// The request of an attempt, adapted, or the request that follows a redirect, is about to be sent.
  case send(TransferRequest)
  /// A redirect is followed, with the changes of the redirect handler.
  case redirect(from: RequestURL, to: RequestURL)
  /// The session's first request to a host whose identity is not verified (`DisabledTrustEvaluator`).
  case skipServerTrust(host: String)
  /// The head of a response, also of a redirect, is complete. The body follows.
  case receiveHead(ResponseHead)
  /// The stored bytes could not be resumed in this way; the next strategy is tried.
  case refuseToResume(reason: String)
  /// A transfer ended; its metrics. Cancelled transfers have some too, unless they never began.
  case gatherMetrics(TransferMetrics)
  /// The validations of a response ran. `nil`: all accepted it.
  case validate(TransferError?)
  /// A serializer ran. `nil`: it produced a value.
  case parse(TransferError?)
  /// An attempt failed, and another one follows after the delay.
  case retry(after: Duration, dueTo: TransferError)
  /// The request has failed with this error. Only `.parse` may follow.
  case fail(TransferError)
  /// The request has succeeded. Only `.parse` may follow.
  case finish
}
