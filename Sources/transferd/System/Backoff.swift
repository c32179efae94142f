/// Waits between attempts of the daemon's own work. Transfers have the engine's `RetryPolicy`, which adds jitter. Pure.
enum Backoff {
  /// 1 s after the first failure, and `factor` times as long after each further one.
  /// - Parameters:
  ///   - failures: consecutive failures, 1 or more.
  ///   - longest: in seconds.
  static func seconds(afterFailure failures: Int, factor: Double = 2, atMost longest: Double) -> Double {
    var seconds = 1.0
    for _ in 1..<max(1, min(failures, 64)) where seconds < longest {
      seconds *= factor  // checked: Doubles do not trap
    }
    return min(longest, seconds)
  }
}
