/// A crash of the daemon, counted against the jobs that ran.
public struct CountedCrash: Equatable, Sendable {
  /// The name of the run that crashed.
  public let run: String
  /// How many jobs it was counted against.
  public let jobs: Int
  /// Those jobs were recovered: jobs that are running now did not run then.
  public var isOver = false
}
