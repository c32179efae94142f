public import TransferAPI

/// The end of a job that is to be reported to a configured command.
public struct PendingHook: Equatable, Sendable {
  public enum Kind: String, Sendable {
    case complete, failure
  }

  public var id: Int64
  public var job: JobID
  /// The uid of the job's owner.
  public var owner: UInt32
  public var kind: Kind
  /// The job at its end, in JSON.
  public var payload: String
}
