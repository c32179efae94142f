import WireValues

/// Whether a download gets another connection. Pure: gets the rates, and says how many connections there may be.
///
/// A fixed number is used at once. `automatic` begins with one connection and adds one after each measurement, as long as
/// the last one has raised the rate of all together by a quarter of what a connection had; otherwise it takes that
/// one back and stays. A server that refuses (429, 503, a refused connection) ends the growth for this attempt.
struct SegmentGrowth: Equatable, Sendable {
  /// The most connections, the first one included.
  let limit: Int
  /// How many there may be now.
  private(set) var allowed: Int
  /// Bytes a second before the last connection was added.
  private var rateBefore: Double?
  private var isSettled: Bool

  /// A rest that needs less than this many seconds is not worth another connection.
  static let worthwhileSeconds = 4.0
  /// A further connection has to bring this part of what one connection has on average.
  static let minimumGain = 0.25

  /// - Parameter sources: from how many places the file can be fetched. With several, `automatic` uses one connection with each
  ///   of them, up to `SegmentPolicy.automaticSources`, from the beginning.
  init(_ policy: SegmentPolicy, sources: Int = 1) {
    switch policy {
    case .fixed(let count):
      limit = policy.maximum
      allowed = SegmentPolicy.fixed(count).maximum
      isSettled = true
    case .automatic where sources > 1 && policy.maximum > 1:
      limit = SegmentPolicy.automaticSources
      allowed = min(sources, limit)
      isSettled = true
    case .automatic:
      limit = policy.maximum
      allowed = 1
      isSettled = false
    }
  }

  /// The rate of a whole interval is known.
  /// - Parameters:
  ///   - rate: bytes a second of all connections.
  ///   - rest: bytes that are missing.
  ///   - connections: how many were running.
  mutating func measured(rate: Double, rest: Int64, connections: Int) {
    guard !isSettled, connections == allowed else { return }
    if let rateBefore {
      let gain = rate - rateBefore  // checked: floating point
      let before = Double(max(1, connections - 1))  // checked: a number of connections
      if gain < rateBefore / before * Self.minimumGain {
        allowed = max(1, connections - 1)  // checked: a number of connections
        isSettled = true
        return
      }
    }
    guard allowed < limit else { return }
    // checked: rate > 0
    guard rate > 0, Double(rest) / rate > Self.worthwhileSeconds else { return }
    rateBefore = rate
    allowed += 1  // checked: at most `limit`
  }

  /// The server refused a connection or asked to wait.
  /// - Parameter connections: how many are left.
  mutating func refused(connections: Int) {
    allowed = max(1, min(allowed, connections))
    isSettled = true
  }
}
