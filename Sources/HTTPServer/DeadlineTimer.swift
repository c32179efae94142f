import NIOCore

/// One deadline that moves often. The event loop's timer is set once and examines the deadline when it fires, so that moving
/// it costs nothing. Used on one event loop only.
struct DeadlineTimer {
  private var due: NIODeadline?
  private var scheduled: (at: NIODeadline, task: Scheduled<Void>)?

  /// Replaces the deadline.
  /// - Parameter fire: has to call ``hasFired(at:)``. It may be called although the deadline has moved.
  mutating func arm(at deadline: NIODeadline, on loop: any EventLoop, fire: @escaping @Sendable () -> Void) {
    due = deadline
    if let scheduled {
      guard scheduled.at > deadline else { return }
      scheduled.task.cancel()
    }
    scheduled = (deadline, loop.scheduleTask(deadline: deadline, fire))
  }

  mutating func disarm() { due = nil }

  /// Call it when the connection ends.
  mutating func cancel() {
    scheduled?.task.cancel()
    scheduled = nil
    due = nil
  }

  /// What to do when the timer has fired: act if the deadline is over, set the timer again if it has moved.
  mutating func hasFired(at now: NIODeadline) -> Firing {
    scheduled = nil
    guard let due else { return .nothing }
    guard due <= now else { return .again(due) }
    self.due = nil
    return .over
  }

  enum Firing {
    case nothing
    case again(NIODeadline)
    case over
  }
}
