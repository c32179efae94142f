/// What can happen to a job.
public enum JobEvent: String, Codable, CaseIterable, Sendable {
  /// The scheduler gives it a slot.
  case claim
  /// A person stops it for a while.
  case pause
  /// A person lets a paused job go on.
  case resume
  /// A person gives it up.
  case cancel
  /// A person wants another try, now.
  case retry
  /// The end of the daemon interrupted its attempt; the job did not fail.
  case requeue
  /// Its attempt failed for a reason that may pass.
  case postpone
  /// Its attempt failed for good, or the policy allows no further one.
  case fail
  /// Its bytes are verified and stand under the destination's name.
  case complete
}
