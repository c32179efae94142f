public import FoundationEssentials
import TransferAPI

/// What decides when a waiting job may start: the part of its row that clients do not see.
public struct WaitFacts: Equatable, Sendable {
  public var origin: String
  public var batch: BatchID?
  /// Its start time, if that has not come.
  public var waitsUntil: Date?
  /// An earlier upload to the same URL is unfinished.
  public var isBlocked: Bool
  /// The daemon crashed too often while the job ran.
  public var runsAlone: Bool

  public init(
    origin: String, batch: BatchID? = nil, waitsUntil: Date? = nil, isBlocked: Bool = false, runsAlone: Bool = false
  ) {
    self.origin = origin
    self.batch = batch
    self.waitsUntil = waitsUntil
    self.isBlocked = isBlocked
    self.runsAlone = runsAlone
  }
}

extension JobRecord {
  /// `nil` unless the job is queued or retrying.
  public var waitFacts: WaitFacts? {
    guard job.state == .queued || job.state == .retrying else { return nil }
    return WaitFacts(
      origin: spec.origin, batch: spec.batchID, waitsUntil: waitsUntil, isBlocked: blockedBy != nil,
      runsAlone: runsAlone)
  }
}
