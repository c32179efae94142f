import WireValues

/// Divides bytes among claims so that the smallest share is as large as possible, then the second smallest, and so on
/// (max-min fairness). Pure.
///
/// A claim draws on several buckets at once: those of its session, its origin, its batch and its own. No bucket gives more
/// than it has, no claim gets more than it wants, and nothing remains in all buckets of a claim that wants more.
enum FairShares {
  struct Claim: Equatable, Sendable {
    /// Indices of the buckets, each at most once.
    var buckets: [Int]
    /// Bytes; `nil`: as many as there are.
    var demand: Int64?
  }

  /// - Parameter capacities: bytes in each bucket; a negative number counts as 0.
  /// - Returns: bytes for each claim. A claim without buckets gets its demand, or `Int64.max`.
  static func divide(_ capacities: [Int64], among claims: [Claim]) -> [Int64] {
    var division = Division(capacities, claims)
    division.fill()
    return division.shares
  }

  /// Raises the level of all claims together. A claim stops when it has its demand or when one of its buckets is empty.
  private struct Division {
    private(set) var shares: [Int64]
    private let claims: [Claim]
    private var left: [Int64]
    /// Rising claims for each bucket.
    private var counts: [Int]
    private var members: [[Int]]
    private var caps: [Int64]
    private var isRising: [Bool]
    private var level: Int64 = 0
    /// Claims by their caps, the smallest first.
    private var order: [Int]
    private var nextInOrder = 0
    /// Buckets with more than one claim; those with one are part of the claim's cap.
    private var shared: [Int]

    init(_ capacities: [Int64], _ claims: [Claim]) {
      self.claims = claims
      left = capacities.map { max(0, $0) }
      shares = [Int64](repeating: 0, count: claims.count)
      isRising = [Bool](repeating: true, count: claims.count)
      counts = [Int](repeating: 0, count: left.count)
      for claim in claims {
        for bucket in claim.buckets { counts[bucket] += 1 }
      }
      members = [[Int]](repeating: [], count: left.count)
      caps = []
      caps.reserveCapacity(claims.count)
      for (index, claim) in claims.enumerated() {
        var cap = max(0, claim.demand ?? .max)
        for bucket in claim.buckets {
          if counts[bucket] > 1 { members[bucket].append(index) } else { cap = min(cap, left[bucket]) }
        }
        caps.append(cap)
      }
      let (found, limits) = (counts, caps)
      shared = found.indices.filter { found[$0] > 1 }
      order = claims.indices.sorted { limits[$0] < limits[$1] }
    }

    mutating func fill() {
      while true {
        stopSatisfied()
        guard nextInOrder < order.count else { return }
        raise()
        while let bucket = nextToEmpty { empty(bucket) }
      }
    }

    /// Ends the claims that have reached their caps.
    private mutating func stopSatisfied() {
      while nextInOrder < order.count {
        let claim = order[nextInOrder]
        guard !isRising[claim] || caps[claim] == level else { return }
        if isRising[claim] { stop(claim, at: level) }
        nextInOrder += 1
      }
    }

    /// Raises the level until a claim has its cap or a bucket has less than a byte for each of its claims.
    private mutating func raise() {
      var step = caps[order[nextInOrder]] - level  // checked: the level is at most the smallest cap of rising claims
      shared = shared.filter { counts[$0] > 0 }
      for bucket in shared { step = min(step, left[bucket] / Int64(counts[bucket])) }
      level += step
      for bucket in shared { left[bucket] -= step * Int64(counts[bucket]) }  // checked: at most left[bucket]
    }

    /// The bucket with the fewest bytes among those with less than a byte for each of its claims. The claims of this one
    /// leave the others, which may have enough afterwards.
    private var nextToEmpty: Int? {
      shared.filter { left[$0] < Int64(counts[$0]) }.min { left[$0] < left[$1] }
    }

    /// Gives the last bytes of a bucket, fewer than its claims, to the first of these, and ends them all.
    private mutating func empty(_ bucket: Int) {
      for claim in members[bucket] where isRising[claim] {
        let hasMore = caps[claim] > level && claims[claim].buckets.allSatisfy { members[$0].isEmpty || left[$0] > 0 }
        if hasMore {
          for other in claims[claim].buckets where !members[other].isEmpty { left[other] -= 1 }
        }
        stop(claim, at: hasMore ? level + 1 : level)  // checked: the level is below the cap
      }
    }

    private mutating func stop(_ claim: Int, at share: Int64) {
      isRising[claim] = false
      shares[claim] = share
      for bucket in claims[claim].buckets { counts[bucket] -= 1 }
    }
  }
}
