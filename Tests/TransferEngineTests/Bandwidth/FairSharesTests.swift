import TestSupport
import Testing

@testable import TransferEngine

@Suite struct FairSharesTests {
  struct Case: CustomTestStringConvertible {
    let testDescription: String
    let capacities: [Int64]
    let claims: [FairShares.Claim]
    let shares: [Int64]

    init(_ name: String, _ capacities: [Int64], _ claims: [([Int], Int64?)], gives shares: [Int64]) {
      testDescription = name
      self.capacities = capacities
      self.claims = claims.map { FairShares.Claim(buckets: $0.0, demand: $0.1) }
      self.shares = shares
    }
  }

  static let cases = [
    Case("nothing to divide", [10], [], gives: []),
    Case("one claim gets everything", [10], [([0], nil)], gives: [10]),
    Case("equal parts", [9], [([0], nil), ([0], nil), ([0], nil)], gives: [3, 3, 3]),
    Case("the bytes that remain go to the first", [11], [([0], nil), ([0], nil), ([0], nil)], gives: [4, 4, 3]),
    Case("fewer bytes than claims", [2], [([0], nil), ([0], nil), ([0], nil)], gives: [1, 1, 0]),
    Case("an empty bucket gives nothing", [0], [([0], nil), ([0], 5)], gives: [0, 0]),
    Case("a bucket in debt gives nothing", [-5, 10], [([0, 1], nil), ([1], nil)], gives: [0, 10]),
    Case("what one does not want goes to the others", [10], [([0], 2), ([0], nil), ([0], nil)], gives: [2, 4, 4]),
    Case("no more than is wanted", [100], [([0], 2), ([0], 3)], gives: [2, 3]),
    Case("a claim that wants nothing", [10], [([0], 0), ([0], nil)], gives: [0, 10]),
    Case(
      "a batch with a limit leaves its part to the others", [12, 2],
      [([0, 1], nil), ([0, 1], nil), ([0], nil)], gives: [1, 1, 10]),
    Case("a job's own limit", [12, 2], [([0, 1], nil), ([0], nil)], gives: [2, 10]),
    Case(
      "three levels", [100, 30, 10], [([0, 1, 2], nil), ([0, 1], nil), ([0], nil), ([0], 15)], gives: [10, 20, 55, 15]),
    Case(
      "a batch that spans two origins", [10, 10, 6], [([0, 2], nil), ([1, 2], nil), ([0], nil), ([1], nil)],
      gives: [3, 3, 7, 7]),
    Case("a claim without a limit", [], [([], nil), ([], 5)], gives: [.max, 5]),
    Case(
      "numbers that do not fit a sum", [.max, .max], [([0, 1], nil), ([0], .max)], gives: [.max / 2 + 1, .max / 2]),
  ]

  @Test("a table of divisions", arguments: cases)
  func table(_ division: Case) {
    #expect(FairShares.divide(division.capacities, among: division.claims) == division.shares)
  }

  @Test("random trees: no bucket gives too much, and nothing remains for a claim that wants more")
  func random() {
    var random = SeededGenerator(seed: 7)
    for round in 0..<3000 {
      let capacities = (0..<Int.random(in: 1...8, using: &random)).map { _ in
        Bool.random(using: &random)
          ? Int64.random(in: 0...20, using: &random) : Int64.random(in: -5...5000, using: &random)
      }
      let claims = (0..<Int.random(in: 0...30, using: &random)).map { _ in
        let count = Int.random(in: 1...min(4, capacities.count), using: &random)
        return FairShares.Claim(
          buckets: Array(capacities.indices.shuffled(using: &random).prefix(count)),
          demand: Bool.random(using: &random) ? nil : Int64.random(in: 0...200, using: &random))
      }
      let shares = FairShares.divide(capacities, among: claims)
      let given = capacities.indices.map { bucket in
        zip(claims, shares).reduce(Int64(0)) { $0 + ($1.0.buckets.contains(bucket) ? $1.1 : 0) }
      }
      for (bucket, capacity) in capacities.enumerated() where given[bucket] > max(0, capacity) {
        Issue.record("round \(round): bucket \(bucket) gave \(given[bucket]) of \(capacity)")
      }
      for (claim, share) in zip(claims, shares) {
        #expect(share >= 0 && share <= claim.demand ?? .max, "round \(round)")
        guard share < claim.demand ?? .max else { continue }
        // An empty bucket, in which no other has much more: that one could give something away.
        let holds = claim.buckets.contains { bucket in
          given[bucket] == max(0, capacities[bucket])
            && zip(claims, shares).allSatisfy { !$0.0.buckets.contains(bucket) || $0.1 <= share + 1 }
        }
        #expect(holds, "round \(round): \(claim) got \(share); \(capacities) \(claims) \(shares)")
      }
    }
  }
}
