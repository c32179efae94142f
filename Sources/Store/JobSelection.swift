public import TransferAPI

/// A `JobSelector` whose batch is known.
public enum JobSelection: Equatable, Sendable {
  case ids([JobID])
  case batch(BatchID)
  case state(JobState)
  case all
}
