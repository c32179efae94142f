import FoundationEssentials

/// Whether more jobs of an origin are claimed than it may transfer at once. Pure: the clock is passed in.
///
/// A claim waits for a transaction. With an origin that brings thousands of small files a second, connections would wait
/// for it, and each transaction would claim a few jobs only. So jobs are claimed in advance: they wait for a connection.
struct ClaimAhead: Equatable, Sendable {
  /// Small files a second from which on jobs are claimed in advance.
  static let minimumSpeed = 1000.0
  /// Seconds over which the speed is measured.
  static let interval: TimeInterval = 0.02
  /// Jobs that transfer and wait at once.
  static let maximumClaims = 4 * OriginWidth.maximum

  private struct Measurement: Equatable {
    let startedAt: Date
    var files = 0
  }

  private(set) var isActive = false
  /// It has been active, so jobs may wait for connections.
  private(set) var wasActive = false
  private var measurement: Measurement?
  private var lane: TransferLane?

  /// A small file has arrived.
  mutating func recordSmallFile(now: Date) {
    guard var current = measurement, current.startedAt <= now else {
      measurement = Measurement(startedAt: now)
      return
    }
    current.files += 1  // checked: it ends after the interval
    measurement = current
    let time = now.timeIntervalSince(current.startedAt)
    guard time >= Self.interval else { return }
    isActive = lane != nil && lane != .alone && Double(current.files) >= Self.minimumSpeed * time
    wasActive = wasActive || isActive
    measurement = Measurement(startedAt: now)
  }

  /// A transfer begins. One in another lane does not wait for a connection of those before it.
  mutating func recordStart(in lane: TransferLane) {
    guard lane != self.lane else { return }
    self.lane = lane
    stop()
  }

  /// The origin has refused a request, or has large files.
  mutating func stop() {
    isActive = false
    measurement = nil
  }
}
