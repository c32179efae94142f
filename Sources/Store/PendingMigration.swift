/// What the store is about to do before it opens a database of an earlier release. It may take a minute for a million jobs.
public struct PendingMigration: Equatable, Sendable {
  /// The schema versions.
  public var from: Int32
  public var to: Int32
  /// How many jobs the database holds.
  public var jobs: Int

  public init(from: Int32, to: Int32, jobs: Int) {
    self.from = from
    self.to = to
    self.jobs = jobs
  }
}
