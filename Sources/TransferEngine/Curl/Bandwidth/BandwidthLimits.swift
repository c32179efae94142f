import Synchronization

/// The limits of speed of a session, and of the buckets that its requests name. Changes apply to running transfers, without
/// a new request. All methods may be called from any thread.
///
/// ```swift
/// session.bandwidth.setLimit(BandwidthLimit(down: 8 << 20))
/// session.bandwidth.setLimit(BandwidthLimit(down: 1 << 20), ofBucket: "photos")
/// request.bandwidthBuckets = ["photos"]
/// ```
///
/// A transfer obeys the session's limit, those of all its buckets, and its request's own `limitRate`. What one transfer does
/// not use is divided among the others every 100 ms, in equal shares. Only bytes of bodies count, as they cross the network.
/// A transfer under a limit has a connection of its own, by HTTP/1.1.
public final class BandwidthLimits: Sendable {
  private struct Ledgers {
    var down = BandwidthLedger()
    var up = BandwidthLedger()
    /// Limits by name; `nil` for the session.
    var limits: [String?: BandwidthLimit] = [:]
    var observers: [@Sendable () -> Void] = []
  }

  enum Direction: Sendable { case down, up }

  private let ledgers = Mutex(Ledgers())
  private let hasLimits = Atomic(false)

  init() {}

  /// The limit of the session, or of a bucket.
  public func limit(ofBucket name: String? = nil) -> BandwidthLimit {
    ledgers.withLock { $0.limits[name] ?? .none }
  }

  /// Sets the limit of all transfers of the session together.
  public func setLimit(_ limit: BandwidthLimit) { set([(nil, limit)]) }

  /// Sets the limit of all transfers together whose requests name the bucket. Without a limit, the bucket is forgotten.
  public func setLimit(_ limit: BandwidthLimit, ofBucket name: String) { set([(name, limit)]) }

  /// Sets several limits at once.
  public func setLimits(_ limits: [String: BandwidthLimit]) { set(limits.map { ($0.key, $0.value) }) }

  private func set(_ changes: [(String?, BandwidthLimit)]) {
    let observers = ledgers.withLock { ledgers in
      var mustJoin = false
      for (name, limit) in changes {
        let old = ledgers.limits[name] ?? .none
        guard old != limit else { continue }
        ledgers.limits[name] = limit == .none ? nil : limit
        ledgers.down.setLimit(limit.down, of: name)
        ledgers.up.setLimit(limit.up, of: name)
        // Running transfers know the buckets that had a limit when they began.
        if old.down == nil && limit.down != nil || old.up == nil && limit.up != nil { mustJoin = true }
      }
      hasLimits.store(!ledgers.limits.isEmpty, ordering: .releasing)
      return mustJoin ? ledgers.observers : []
    }
    for observer in observers { observer() }
  }

  /// Calls the closure after a bucket has got its first limit: running transfers may have to join it.
  func observe(_ observer: @escaping @Sendable () -> Void) { ledgers.withLock { $0.observers.append(observer) } }

  // MARK: Transfers

  /// Whether a limit is set; without one, a transfer that begins does not look further.
  var isLimiting: Bool { hasLimits.load(ordering: .acquiring) }

  /// Adds a transfer.
  /// - Returns: `nil` if no limit applies to it.
  func join(
    _ names: [String], own rate: Int64?, _ direction: Direction, replacing old: BandwidthLedger.ShareID? = nil
  ) -> BandwidthLedger.ShareID? {
    guard old != nil || rate != nil || isLimiting else { return nil }
    return with(direction) { $0.join(names, own: rate, replacing: old) }
  }

  func leave(_ share: BandwidthLedger.ShareID, _ direction: Direction) { with(direction) { $0.leave(share) } }

  /// The lowest limit that applies to the transfer; `nil` if none does any more.
  func lowestLimit(_ share: BandwidthLedger.ShareID, _ direction: Direction) -> Int64? {
    with(direction) { $0.lowestLimit(share) }
  }

  /// The number of bytes that the transfer may move now; 0 if it has to wait.
  func allowance(_ share: BandwidthLedger.ShareID, _ direction: Direction, now: ContinuousClock.Instant = .now) -> Int {
    with(direction) { $0.allowance(share, now: now) }
  }

  /// The transfer has moved bytes, perhaps more than its allowance.
  func take(_ count: Int, _ share: BandwidthLedger.ShareID, _ direction: Direction) {
    with(direction) { $0.take(Int64(count), share) }
  }

  /// When waiting transfers may continue at the earliest.
  func nextDivision(_ direction: Direction) -> ContinuousClock.Instant? { with(direction) { $0.nextDivision } }

  private func with<Value>(_ direction: Direction, _ body: (inout BandwidthLedger) -> sending Value) -> sending Value {
    ledgers.withLock { direction == .down ? body(&$0.down) : body(&$0.up) }
  }
}
