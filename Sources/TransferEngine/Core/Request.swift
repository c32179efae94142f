/// What all requests have in common. The handles are thin: cheap to pass around and safe to use from any thread. A running
/// request keeps its handle alive until its last handler has returned.
public protocol Request: AnyObject, Sendable, CustomStringConvertible {
  /// The engine's side of the handle.
  var control: RequestControl { get }
}

extension Request {
  /// Identifies the request in events.
  public var id: RequestID { control.core.id }
  /// The current state. It may change before the caller examines it.
  public var state: RequestState { control.core.requestState }
  /// Whether the request has not started.
  public var isInitialized: Bool { state == .initialized }
  /// Whether the request is running or waits for a retry.
  public var isResumed: Bool { state == .resumed }
  /// Whether the request is suspended.
  public var isSuspended: Bool { state == .suspended }
  /// Whether the request was cancelled before it ended.
  public var isCancelled: Bool { state == .cancelled }
  /// Whether the request has ended, with success or failure, without being cancelled.
  public var isFinished: Bool { state == .finished }

  /// Attempts after the first one, so far.
  public var retryCount: Int { control.core.retryCount }

  /// The last request: adapted and redirected as it was sent. If adapting failed, the request as it was described; `nil`
  /// before the first attempt.
  public var request: TransferRequest? { control.core.record.request }

  /// The head of the last response, redirects included; `nil` before one arrives.
  public var response: ResponseHead? { control.core.record.response }

  /// The metrics of the last transfer that ended; `nil` before one ends.
  public var metrics: TransferMetrics? { allMetrics.last }

  /// The metrics of all transfers of this request so far: one for each attempt and each redirect.
  public var allMetrics: [TransferMetrics] { control.core.record.metrics }

  /// Starts the request, or continues it after `suspend()`.
  @discardableResult public func resume() -> Self {
    control.core.resume()
    return self
  }

  /// Holds the transfer and keeps what has arrived. `resume()` continues from there.
  @discardableResult public func suspend() -> Self {
    control.core.suspend()
    return self
  }

  /// Asks the request to end. One that finishes at this moment stays finished; otherwise the response fails with
  /// `.cancelled`. A download deletes its part file; `DownloadRequest.cancel(producingResumeData:)` can keep it.
  @discardableResult public func cancel() -> Self {
    control.core.cancel()
    return self
  }

  /// Sets the redirect handler of this request; it replaces the session's. Call it before the request starts.
  @discardableResult public func redirect(using handler: any RedirectHandler) -> Self {
    control.core.setRedirectHandler(handler)
    return self
  }

  public var description: String {
    let request = request.map { ": \($0)" } ?? ""
    return "\(id)\(request) (\(state.rawValue))"
  }
}
