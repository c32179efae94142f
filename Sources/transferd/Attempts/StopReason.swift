import Store
import TransferAPI
import TransferEngine

/// Why the daemon stopped a running attempt.
enum StopReason: Int, Comparable, Sendable {
  /// A job with a higher priority takes its slot.
  case preemption
  /// Its window has closed.
  case window
  /// The job's settings changed. It starts again at once with the new settings.
  case restart
  /// The daemon is stopping.
  case shutdown
  /// The day's quota is used up.
  case quota
  case pause
  /// Its deadline has passed: the job fails.
  case deadline
  case cancel
  /// Cancel the attempt, then delete the row.
  case remove

  /// The stronger reason wins: a user's request has priority over the shutdown.
  static func < (lhs: StopReason, rhs: StopReason) -> Bool { lhs.rawValue < rhs.rawValue }
}
