/// What all requests have in common. The handles are thin: cheap to pass around, safe from any thread.
public protocol Request: AnyObject, Sendable, CustomStringConvertible {
  /// The engine's end of the handle.
  var control: RequestControl { get }
}

/// The engine's end of a request's handle; opaque to everybody else.
public struct RequestControl: Sendable {
  let core: any RequestSteering
}

/// What a handle can do with its core, whatever the outcome's type.
protocol RequestSteering: AnyObject, Sendable {
  var id: RequestID { get }
  var session: Session { get }
  var requestState: RequestState { get }
  var retryCount: Int { get }
  var lastRequest: TransferRequest? { get }
  func resume()
  func suspend()
  func cancel()
  func progress(_ direction: ProgressDirection) -> TransferProgress
  func observe(_ direction: ProgressDirection, _ observer: ProgressObserver)
  func setRedirectHandler(_ handler: any RedirectHandler)
  func setCredential(_ credential: HTTPCredential)
  /// Returns when the request has ended.
  func ended() async
}

extension Request {
  /// Names the request in events.
  public var id: RequestID { control.core.id }
  /// Where the request stands now. It may stand elsewhere when the caller looks.
  public var state: RequestState { control.core.requestState }
  /// Whether it has not begun.
  public var isInitialized: Bool { state == .initialized }
  /// Whether it runs, or waits to be tried again.
  public var isResumed: Bool { state == .resumed }
  /// Whether it is held.
  public var isSuspended: Bool { state == .suspended }
  /// Whether `cancel()` came before its end.
  public var isCancelled: Bool { state == .cancelled }
  /// Whether it has ended, well or not, without a cancel.
  public var isFinished: Bool { state == .finished }

  /// Tries after the first one, so far.
  public var retryCount: Int { control.core.retryCount }

  /// What was last sent, adapted, after redirects; `nil` before anything was.
  public var request: TransferRequest? { control.core.lastRequest }

  /// Starts, or goes on after `suspend()`.
  @discardableResult public func resume() -> Self {
    control.core.resume()
    return self
  }

  /// Holds the transfer and keeps what has arrived; `resume()` goes on from there.
  @discardableResult public func suspend() -> Self {
    control.core.suspend()
    return self
  }

  /// A request, not an outcome: one that finishes at this moment stays finished. The response then fails with
  /// `.cancelled`.
  @discardableResult public func cancel() -> Self {
    control.core.cancel()
    return self
  }

  /// Decides about this request's redirects in the session's place. To be set before the request starts.
  @discardableResult public func redirect(using handler: any RedirectHandler) -> Self {
    control.core.setRedirectHandler(handler)
    return self
  }

  public var description: String {
    let request = control.core.lastRequest.map { ": \($0)" } ?? ""
    return "\(control.core.id)\(request) (\(control.core.requestState.rawValue))"
  }
}
