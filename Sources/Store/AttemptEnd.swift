public import TransferAPI

/// What an attempt's row holds when the attempt is over; `Attempt` explains the fields.
public struct AttemptEnd: Equatable, Sendable {
  public var outcome: Attempt.Outcome?
  public var resumedFrom: Int64 = 0
  public var bytesReceived: Int64 = 0
  public var httpStatus: Int?
  public var remoteAddress: String?
  public var networkProtocol: String?
  public var timings: Attempt.Timings?
  public var error: JobFailure?
  /// The attempt was cut off with the daemon, at an unknown time.
  public var isEndUnknown = false
  public init() {}
}
