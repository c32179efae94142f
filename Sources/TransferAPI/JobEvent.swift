/// What can happen to a job.
public enum JobEvent: String, Codable, CaseIterable, Sendable {
  /// The scheduler gives it a slot.
  case claim
  /// A user pauses it.
  case pause
  /// A user resumes it.
  case resume
  /// A user cancels it.
  case cancel
  /// A user asks for an attempt now.
  case retry
  /// The daemon stopped during its attempt; the job did not fail.
  case requeue
  /// Its attempt failed with a transient error.
  case postpone
  /// Its attempt failed for good, or the policy allows no further one.
  case fail
  /// It fails without an attempt: its deadline has passed, or a job that it waits for has failed.
  case expire
  /// Its bytes are verified and stored at the destination.
  case complete
}
