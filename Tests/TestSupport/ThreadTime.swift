import Foundation

/// The CPU time of the calling thread: unlike the time of day, it is the same when other programs use the machine.
public enum ThreadTime {
  /// The CPU time that the calling thread spends in `body`.
  public static func measure(_ body: () throws -> Void) rethrows -> Duration {
    let start = current
    try body()
    return current - start
  }

  /// The CPU time of the calling thread since it began.
  public static var current: Duration {
    var time = timespec()
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
    return .seconds(Int64(time.tv_sec)) + .nanoseconds(Int64(time.tv_nsec))
  }
}
