/// The state of a job. `applying(_:)` is the only way from one state to the next; docs/job-states.md draws it.
public enum JobState: String, Codable, CaseIterable, Sendable {
  /// Waits for a free slot. A job enters this state when it is added, resumed or explicitly retried, or when the daemon
  /// ended during its transfer.
  case queued
  /// An attempt is under way in this daemon. A job found `running` at boot was cut off and becomes `queued`.
  case running
  /// An attempt failed for a temporary reason; the next one begins automatically at `retryAt`.
  case retrying
  /// Stopped by a person. The bytes are kept; nothing happens until `resume`.
  case paused
  /// The destination holds the verified bytes. Final.
  case completed
  /// No further attempt is made; `error` has the reason. The bytes are kept for `retry`.
  case failed
  /// Cancelled by a user. No part file is left.
  case cancelled

  /// No attempt will follow unless a person asks for one.
  public var isFinal: Bool {
    switch self {
    case .completed, .failed, .cancelled: true
    case .queued, .running, .retrying, .paused: false
    }
  }
}

extension JobState {
  /// The state after `event`; `self` if the job is already in the requested state (pausing a paused job).
  /// - Throws: `InvalidTransition` where the event makes no sense in this state.
  public func applying(_ event: JobEvent) throws(InvalidTransition) -> JobState {
    switch (self, event) {
    case (.queued, .claim), (.retrying, .claim): .running

    case (.queued, .pause), (.running, .pause), (.retrying, .pause), (.paused, .pause): .paused
    case (.paused, .resume): .queued

    case (.queued, .cancel), (.running, .cancel), (.retrying, .cancel), (.paused, .cancel),
      (.cancelled, .cancel):
      .cancelled

    case (.failed, .retry), (.cancelled, .retry), (.retrying, .retry), (.queued, .retry): .queued

    case (.running, .requeue): .queued
    case (.running, .postpone): .retrying
    case (.running, .fail): .failed
    case (.running, .complete): .completed
    case (.queued, .expire), (.retrying, .expire), (.paused, .expire): .failed

    case (.running, .claim), (.paused, .claim), (.completed, .claim), (.failed, .claim),
      (.cancelled, .claim),
      (.completed, .pause), (.failed, .pause), (.cancelled, .pause),
      (.queued, .resume), (.running, .resume), (.retrying, .resume), (.completed, .resume),
      (.failed, .resume), (.cancelled, .resume),
      (.completed, .cancel), (.failed, .cancel),
      (.running, .retry), (.paused, .retry), (.completed, .retry),
      (.queued, .requeue), (.retrying, .requeue), (.paused, .requeue), (.completed, .requeue),
      (.failed, .requeue), (.cancelled, .requeue),
      (.queued, .postpone), (.retrying, .postpone), (.paused, .postpone), (.completed, .postpone),
      (.failed, .postpone), (.cancelled, .postpone),
      (.queued, .fail), (.retrying, .fail), (.paused, .fail), (.completed, .fail), (.failed, .fail),
      (.cancelled, .fail),
      (.queued, .complete), (.retrying, .complete), (.paused, .complete), (.completed, .complete),
      (.failed, .complete), (.cancelled, .complete),
      (.running, .expire), (.completed, .expire), (.failed, .expire), (.cancelled, .expire):
      throw InvalidTransition(state: self, event: event)
    }
  }
}
