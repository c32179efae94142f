import WireValues

/// Who may move how many bytes in one direction: buckets with limits, and the shares of transfers in them. Pure: the caller
/// passes the time.
///
/// A bucket has a balance, which grows by its limit and shrinks with each byte. A transfer waits while the balance of one of
/// its buckets is used up, so no limit is exceeded, whatever the shares are. The shares decide who goes first: every
/// `interval`, what the buckets have is divided by `FairShares`, and a transfer's part becomes its credit. It may also use
/// what is not promised to others. A piece may be larger than the credit; the debt counts against the next credits.
struct BandwidthLedger: Sendable {
  typealias Instant = ContinuousClock.Instant

  struct ShareID: Hashable, Sendable {
    fileprivate let index: Int
  }

  private struct Bucket {
    /// `nil` for the session's bucket, and for those that belong to one transfer.
    var name: String?
    /// Bytes per second.
    var limit: Int64?
    var balance: Int64 = 0
    /// The part of the last refill that was less than a byte, in millionths of a byte.
    var rest: Int64 = 0
    /// The sum of the positive credits of its shares.
    var promised: Int64 = 0
    var users = 0
  }

  private struct Share {
    var isInUse = true
    /// The bucket of this transfer alone.
    var own: Int?
    /// Those that had a limit when the transfer joined.
    var buckets: [Int] = []
    var credit: Int64 = 0
    /// Bytes since the last division.
    var used: Int64 = 0
    /// It had to wait since the last division. One that has stopped asking loses its part.
    var isRefused = false
  }

  /// The time between two divisions.
  static let interval = Duration.milliseconds(100)
  private static let intervalMicroseconds: Int64 = 100_000
  /// The longest time for which buckets are refilled at once, if transfers waited for it.
  private static let maximumMicroseconds: Int64 = 1_000_000
  /// A transfer that waits asks again within this time, on a slow machine, too.
  private static let longestPause = Duration.milliseconds(500)
  /// 4 TiB a second; a larger limit is never reached.
  private static let maximumLimit: Int64 = 1 << 42
  /// The least allowance, so that shares of a few bytes do not make many small pieces.
  private static let quantum: Int64 = 4096

  private var buckets = [Bucket(name: nil, users: 1)]
  private var shares: [Share] = []
  private var byName: [String: Int] = [:]
  private var freeBuckets: [Int] = []
  private var freeShares: [Int] = []
  private var dividedAt: Instant?
  /// The first and the last time after the last division at which a transfer had to wait.
  private var refusedAt: (first: Instant, last: Instant)?

  /// Places for buckets, for tests.
  var bucketCount: Int { buckets.count }

  // MARK: Limits

  mutating func setLimit(_ limit: Int64?, of name: String?) {
    let limit = limit.map { min(max(1, $0), Self.maximumLimit) }
    let index: Int
    if let name {
      if let known = byName[name] {
        index = known
      } else {
        guard limit != nil else { return }
        index = makeBucket(Bucket(name: name))
        byName[name] = index
      }
    } else {
      index = 0
    }
    guard buckets[index].limit != limit else { return }
    buckets[index].limit = limit
    if let limit {
      // What was saved or owed at another speed would take too long to use or to pay.
      buckets[index].balance = min(max(buckets[index].balance, -limit), Self.bytes(limit, Self.intervalMicroseconds))
    } else {
      buckets[index].balance = 0
    }
    for share in shares.indices where shares[share].isInUse && shares[share].buckets.contains(index) {
      shares[share].credit = 0
    }
    promise()
    freeIfUnused(index)
  }

  private mutating func makeBucket(_ bucket: Bucket) -> Int {
    if let index = freeBuckets.popLast() {
      buckets[index] = bucket
      return index
    }
    buckets.append(bucket)
    return buckets.count - 1
  }

  private mutating func freeIfUnused(_ index: Int) {
    guard index != 0, buckets[index].users == 0 else { return }
    if let name = buckets[index].name {
      guard buckets[index].limit == nil else { return }
      byName[name] = nil
    }
    buckets[index] = Bucket()
    freeBuckets.append(index)
  }

  private static func bytes(_ limit: Int64, _ microseconds: Int64) -> Int64 {
    limit * microseconds / 1_000_000  // checked: at most maximumLimit · maximumMicroseconds < 2^63
  }

  // MARK: Transfers

  /// Adds a transfer, or lets it join the buckets that have got a limit since it began.
  /// - Parameter rate: a limit for this transfer alone; ignored if it is already in the ledger.
  /// - Returns: `nil` if no limit applies to it.
  mutating func join(_ names: [String], own rate: Int64?, replacing old: ShareID? = nil) -> ShareID? {
    var found: [Int] = buckets[0].limit == nil ? [] : [0]
    for name in names {
      guard let index = byName[name], buckets[index].limit != nil, !found.contains(index) else { continue }
      found.append(index)
    }
    if let old {
      join(found, old.index)
      return old
    }
    guard rate != nil || !found.isEmpty else { return nil }
    var share = Share()
    if let rate {
      let own = makeBucket(Bucket(limit: min(max(1, rate), Self.maximumLimit)))
      share.own = own
      found.append(own)
    }
    for bucket in found { buckets[bucket].users += 1 }
    share.buckets = found
    guard let index = freeShares.popLast() else {
      shares.append(share)
      return ShareID(index: shares.count - 1)
    }
    shares[index] = share
    return ShareID(index: index)
  }

  private mutating func join(_ found: [Int], _ share: Int) {
    for bucket in found where !shares[share].buckets.contains(bucket) {
      shares[share].buckets.append(bucket)
      buckets[bucket].users += 1
      buckets[bucket].promised += max(0, shares[share].credit)  // checked: a sum of credits, each part of a balance
    }
  }

  mutating func leave(_ id: ShareID) {
    let share = shares[id.index]
    shares[id.index] = Share(isInUse: false)
    freeShares.append(id.index)
    for bucket in share.buckets {
      buckets[bucket].promised -= max(0, share.credit)  // checked: part of the sum
      buckets[bucket].users -= 1
      freeIfUnused(bucket)
    }
  }

  func lowestLimit(_ id: ShareID) -> Int64? { shares[id.index].buckets.compactMap { buckets[$0].limit }.min() }

  /// When waiting transfers may continue at the earliest; `nil` before the first division.
  var nextDivision: Instant? { dividedAt.map { $0 + Self.interval } }

  /// The number of bytes that a transfer may move now; 0 if it has to wait.
  mutating func allowance(_ id: ShareID, now: Instant) -> Int {
    if let allowed = allowed(id.index) { return allowed }
    shares[id.index].isRefused = true
    if dividedAt.map({ $0.duration(to: now) >= Self.interval }) ?? true {
      divide(now)
      if let allowed = allowed(id.index) { return allowed }
      shares[id.index].isRefused = true
    }
    refusedAt = (refusedAt?.first ?? now, now)
    return 0
  }

  private func allowed(_ index: Int) -> Int? {
    let share = shares[index]
    var (least, quantum) = (Int64.max, Self.quantum)
    for bucket in share.buckets {
      let bucket = buckets[bucket]
      guard let limit = bucket.limit else { continue }
      // What was promised to others does not count.
      let free = share.credit > 0 ? bucket.balance : bucket.balance.saturatingSum(-bucket.promised)
      guard free > 0 else { return nil }
      least = min(least, free)
      quantum = min(quantum, max(512, limit / 4))
    }
    if share.credit > 0 { least = min(least, share.credit) }
    return Int(clamping: max(least, quantum))
  }

  /// A transfer has moved bytes.
  mutating func take(_ count: Int64, _ id: ShareID) {
    let credit = shares[id.index].credit
    shares[id.index].used = shares[id.index].used.saturatingSum(count)
    shares[id.index].credit = max(credit.saturatingSum(-count), -Self.maximumLimit)
    let kept = max(0, shares[id.index].credit)
    for bucket in shares[id.index].buckets {
      guard let limit = buckets[bucket].limit else { continue }
      buckets[bucket].promised -= max(0, credit) - kept  // checked: part of the sum
      // Bytes that could not be held back must not stop everything for long.
      let floor = min(-2 * limit, -(1 << 18))
      buckets[bucket].balance = max(buckets[bucket].balance.saturatingSum(-count), floor)
    }
  }

  // MARK: Division

  private mutating func divide(_ now: Instant) {
    let elapsed = dividedAt.map { Self.microseconds($0, now) } ?? Self.intervalMicroseconds
    // Time in which nothing waited is lost, except for one interval: otherwise a burst would follow.
    let waited = refusedAt.map { waiting($0, now) } ?? 0
    let entitled = min(elapsed, waited + Self.intervalMicroseconds, Self.maximumMicroseconds)
    dividedAt = now
    refusedAt = nil
    refill(entitled)
    let claimants = shares.indices.filter { shares[$0].isInUse }
    var claims: [FairShares.Claim] = []
    claims.reserveCapacity(claimants.count)
    var capacities = buckets.map(\.balance)
    for index in claimants {
      // One that did not wait loses the credit that it did not use, and owes nothing to others.
      if !shares[index].isRefused { shares[index].credit = 0 }
      let limited = shares[index].buckets.filter { buckets[$0].limit != nil }
      for bucket in limited {
        // Credits are part of the balance, and debts have been taken from it.
        capacities[bucket] = capacities[bucket].saturatingSum(-shares[index].credit)
      }
      claims.append(FairShares.Claim(buckets: limited, demand: demand(index, elapsed)))
    }
    let granted = FairShares.divide(capacities, among: claims)
    for (claim, index) in claimants.enumerated() {
      shares[index].used = 0
      shares[index].isRefused = false
      guard !claims[claim].buckets.isEmpty else { continue }
      shares[index].credit = shares[index].credit.saturatingSum(granted[claim])
    }
    promise()
  }

  /// How long transfers have waited. One that asked long ago does not wait any more.
  private func waiting(_ refusals: (first: Instant, last: Instant), _ now: Instant) -> Int64 {
    let isWaiting = refusals.last.duration(to: now) <= Self.longestPause
    return Self.microseconds(refusals.first, isWaiting ? now : refusals.last)
  }

  /// What a transfer can use until the next division; `nil` if it waits. One that does not wait gets twice what it has
  /// used, so that it can become faster.
  private func demand(_ index: Int, _ elapsed: Int64) -> Int64? {
    if shares[index].isRefused { return nil }
    let intervals = max(1, elapsed / Self.intervalMicroseconds)
    let used = shares[index].used / intervals
    return used.saturatingSum(used)
  }

  private mutating func refill(_ microseconds: Int64) {
    for index in buckets.indices {
      guard let limit = buckets[index].limit else { continue }
      // checked: at most maximumLimit · maximumMicroseconds + 10^6 < 2^63
      let grown = limit * microseconds + buckets[index].rest
      buckets[index].rest = grown % 1_000_000
      let saved = min(buckets[index].balance, Self.bytes(limit, Self.intervalMicroseconds))
      buckets[index].balance = saved + grown / 1_000_000  // checked: both are below maximumLimit
    }
  }

  /// Sums up the credits.
  private mutating func promise() {
    for index in buckets.indices { buckets[index].promised = 0 }
    for share in shares where share.isInUse && share.credit > 0 {
      for bucket in share.buckets { buckets[bucket].promised = buckets[bucket].promised.saturatingSum(share.credit) }
    }
  }

  private static func microseconds(_ start: Instant, _ end: Instant) -> Int64 {
    let (seconds, attoseconds) = start.duration(to: end).components
    let whole = CheckedNumber(seconds) * 1_000_000 + attoseconds / 1_000_000_000_000
    return min(max(0, whole.value ?? maximumMicroseconds), maximumMicroseconds)
  }
}
