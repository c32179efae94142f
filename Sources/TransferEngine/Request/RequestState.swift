/// Where a request stands, as in Alamofire: initialized → resumed ⇄ suspended → cancelled or finished.
public enum RequestState: String, Sendable, CaseIterable {
  /// Made, and nothing sent.
  case initialized
  /// Under way, or waiting for a retry.
  case resumed
  /// Stopped for a while by `suspend()`; what has arrived is kept.
  case suspended
  /// Ended by `cancel()`. Final.
  case cancelled
  /// Ended by success or failure. Final.
  case finished

  /// Whether the change makes sense. A final state is left by nothing; asking again for the state one is in changes
  /// nothing.
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
