import WireValues

/// How many jobs are in each state.
public struct StateCounts: Codable, Equatable, Sendable {
  public var queued = 0
  public var running = 0
  public var retrying = 0
  public var paused = 0
  public var completed = 0
  public var failed = 0
  public var cancelled = 0

  public init() {}

  public subscript(state: JobState) -> Int {
    get {
      switch state {
      case .queued: queued
      case .running: running
      case .retrying: retrying
      case .paused: paused
      case .completed: completed
      case .failed: failed
      case .cancelled: cancelled
      }
    }
    set {
      switch state {
      case .queued: queued = newValue
      case .running: running = newValue
      case .retrying: retrying = newValue
      case .paused: paused = newValue
      case .completed: completed = newValue
      case .failed: failed = newValue
      case .cancelled: cancelled = newValue
      }
    }
  }

  public var total: Int { JobState.allCases.reduce(0) { $0.saturatingSum(self[$1]) } }
  /// Jobs that are not in a final state.
  public var unfinished: Int { [queued, running, retrying, paused].reduce(0) { $0.saturatingSum($1) } }
}
