/// The state of a request, as in Alamofire: initialized → resumed ⇄ suspended → cancelled or finished.
public enum RequestState: String, Sendable, CaseIterable {
  /// Created and not started.
  case initialized
  /// Running, or waiting for a retry.
  case resumed
  /// Paused by `suspend()`; what has arrived is kept.
  case suspended
  /// Ended by `cancel()`. Final.
  case cancelled
  /// Ended by success or failure. Final.
  case finished

  /// Whether this change is possible. Final states do not change, and a change to the same state is not one.
  public func canTransition(to next: RequestState) -> Bool {
    switch (self, next) {
    case (.initialized, .resumed), (.initialized, .suspended), (.initialized, .cancelled): true
    case (.resumed, .suspended), (.resumed, .cancelled), (.resumed, .finished): true
    case (.suspended, .resumed), (.suspended, .cancelled), (.suspended, .finished): true
    case (_, .initialized), (.initialized, .finished), (.initialized, _), (.resumed, .resumed),
      (.suspended, .suspended), (.cancelled, _), (.finished, _):
      false
    }
  }
}
