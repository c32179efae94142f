public import FoundationEssentials
public import TransferAPI

/// What decides when a waiting job may start: the part of its row that clients do not see.
public struct WaitFacts: Equatable, Sendable {
  public var origin: String
  public var batch: BatchID?
  /// Its start time, if that has not come.
  public var waitsUntil: Date?
  /// The hours in which it may run; `nil`: at any time.
  public var window: DailyWindow?
  /// The number of jobs and batches that have to complete first.
  public var openDependencies: Int
  /// The first of them.
  public var firstDependency: JobDependency?
  /// An earlier upload to the same URL is unfinished.
  public var isBlocked: Bool
  /// The daemon crashed too often while the job ran.
  public var runsAlone: Bool

  public init(
    origin: String, batch: BatchID? = nil, waitsUntil: Date? = nil, window: DailyWindow? = nil,
    openDependencies: Int = 0, firstDependency: JobDependency? = nil, isBlocked: Bool = false, runsAlone: Bool = false
  ) {
    self.origin = origin
    self.batch = batch
    self.waitsUntil = waitsUntil
    self.window = window
    self.openDependencies = openDependencies
    self.firstDependency = firstDependency
    self.isBlocked = isBlocked
    self.runsAlone = runsAlone
  }
}

extension JobRecord {
  /// `nil` unless the job is queued or retrying.
  public var waitFacts: WaitFacts? {
    guard job.state == .queued || job.state == .retrying else { return nil }
    return WaitFacts(
      origin: spec.origin, batch: spec.batchID, waitsUntil: waitsUntil, window: spec.options.schedule.window,
      openDependencies: openDependencies, firstDependency: firstDependency, isBlocked: blockedBy != nil,
      runsAlone: runsAlone)
  }
}
