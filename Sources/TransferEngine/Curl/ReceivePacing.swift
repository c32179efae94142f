import WireValues

/// How much of a body must have arrived before its slow transfer is woken. Pure.
///
/// Without it, each packet of each slow connection costs a wake-up, a read and a write. With it, the kernel collects what
/// arrives in an interval (`SO_RCVLOWAT`, socket(7)). It reports the end of a connection at once, so only bytes wait.
struct ReceivePacing {
  /// The time over which the rate is measured.
  static let window = Duration.seconds(1)
  /// Bytes per second. Slower transfers are not paced: bytes would wait for too long after the server has become silent.
  static let minimumRate: Int64 = 4096
  /// Twice as much fits into the buffer that a new socket has on Linux, so the kernel does not have to enlarge it.
  static let maximumThreshold: Int64 = 48 * 1024

  /// Bytes that have to be there; 1: any.
  private(set) var threshold: Int64 = 1
  /// Bytes that have not been read and certainly pass the socket.
  private var rest: Int64
  private var measuredFrom: ContinuousClock.Instant
  private var measured: Int64 = 0
  private var target: Int64 = 1
  /// False if the transfer has become too slow.
  private(set) var isUseful = true

  /// - Parameter rest: bytes that will pass the socket, at least. With a larger number the last bytes would never be read.
  init(rest: Int64, now: ContinuousClock.Instant) {
    self.rest = rest
    measuredFrom = now
  }

  /// Notes bytes that were read.
  /// - Parameter interval: how long bytes may wait.
  /// - Returns: the new threshold; `nil` if it stays as it is.
  mutating func take(_ count: Int, now: ContinuousClock.Instant, interval: Duration) -> Int64? {
    rest = (CheckedNumber(rest) - Int64(count)).nonNegative ?? 0
    measured = measured.saturatingSum(Int64(count))
    let elapsed = measuredFrom.duration(to: now)
    if elapsed >= Self.window {
      let rate = Double(measured) / (elapsed / .seconds(1))  // checked: Doubles do not trap
      isUseful = rate >= Double(Self.minimumRate)
      let collected = rate * (interval / .seconds(1))  // checked: Doubles do not trap
      let bounded = min(collected, Double(Self.maximumThreshold))
      target = isUseful ? Int64(bounded) : 1  // checked: between 0 and the maximum
      measuredFrom = now
      measured = 0
    }
    let wanted = max(1, min(target, rest))
    let change = abs(wanted - threshold)  // checked: both are between 1 and the maximum
    // Small changes are not worth a system call, unless fewer bytes are left.
    guard change > 0, threshold > rest || wanted == 1 || change > threshold / 4 else { return nil }
    threshold = wanted
    return wanted
  }

  /// Nothing has arrived for so long that what is there has to be read.
  mutating func release() {
    threshold = 1
    target = 1
  }
}
