import Testing

@testable import TransferEngine

@Suite struct BandwidthLedgerTests {
  /// Transfers on a network of their own, in steps of a millisecond.
  struct Simulation {
    struct Flow {
      let share: BandwidthLedger.ShareID?
      /// What its server sends, bytes per millisecond; `nil`: as fast as it is read.
      var speed: Int64?
      let piece: Int64
      var sent: Int64 = 0
      var arrived: Int64 = 0
      var isWaiting = false
    }

    var ledger = BandwidthLedger()
    var flows: [Flow] = []
    /// Of each flow, in bytes per millisecond.
    var network: Int64 = 50_000
    private let start = ContinuousClock.now
    private(set) var now = 0
    private var dueAt: Int?

    mutating func add(_ names: [String] = [], own: Int64? = nil, speed: Int64? = nil, piece: Int64 = 4096) {
      flows.append(Flow(share: ledger.join(names, own: own), speed: speed, piece: piece))
    }

    /// - Parameter late: how many milliseconds later than planned the loop wakes up.
    mutating func run(milliseconds: Int, late: Int = 0) {
      for _ in 0..<milliseconds {
        now += 1
        let isDue = dueAt.map { now >= $0 + late } ?? false
        if isDue { dueAt = nil }
        for index in flows.indices {
          flows[index].sent += flows[index].speed ?? 0
          if isDue { flows[index].isWaiting = false }
          move(index)
        }
      }
    }

    private mutating func move(_ index: Int) {
      let instant = start + .milliseconds(now)
      var budget = network
      while budget > 0, !flows[index].isWaiting {
        let piece = flows[index].speed == nil ? flows[index].piece : min(flows[index].piece, flows[index].sent)
        guard piece > 0 else { return }
        if let share = flows[index].share {
          guard ledger.allowance(share, now: instant) > 0 else {
            flows[index].isWaiting = true
            dueAt = min(dueAt ?? .max, now + 100)
            return
          }
          ledger.take(piece, share)
        }
        budget -= piece
        flows[index].arrived += piece
        flows[index].sent -= flows[index].speed == nil ? 0 : piece
      }
    }

    var total: Int64 { flows.reduce(0) { $0 + $1.arrived } }
  }

  private static func expect(_ value: Int64, near wanted: Int64, _ tolerance: Double = 0.03, _ name: String = "") {
    #expect(abs(Double(value - wanted)) <= Double(wanted) * tolerance, "\(name) \(value), not \(wanted)")
  }

  @Test(
    "ten seconds below a limit bring ten times the limit, and no transfer gets much more than another",
    arguments: [1_000_000, 10_000_000, 500_000_000], [1, 16, 200])
  func accuracy(_ limit: Int64, _ count: Int) {
    var simulation = Simulation()
    simulation.network = limit > 100_000_000 ? 1_000_000 : 50_000
    simulation.ledger.setLimit(limit, of: nil)
    for _ in 0..<count { simulation.add(piece: limit > 100_000_000 ? 16384 : 4096) }
    simulation.run(milliseconds: 10_000)
    Self.expect(simulation.total, near: 10 * limit)
    // At the beginning, the first that asks gets what there is.
    let before = simulation.flows.map(\.arrived)
    simulation.run(milliseconds: 10_000)
    let later = zip(simulation.flows, before).map { $0.arrived - $1 }
    let (least, most) = (later.min()!, later.max()!)
    #expect(most - least <= 10 * limit / Int64(count) / 5 + 16384, "\(least) to \(most)")
  }

  @Test("a loop that wakes up late loses nothing", arguments: [5, 50, 300])
  func late(_ milliseconds: Int) {
    var simulation = Simulation()
    simulation.ledger.setLimit(1_000_000, of: nil)
    for _ in 0..<20 { simulation.add() }
    simulation.run(milliseconds: 10_000, late: milliseconds)
    Self.expect(simulation.total, near: 10_000_000, 0.05)
  }

  @Test("what slow transfers do not use goes to the fast ones")
  func unused() {
    var simulation = Simulation()
    simulation.ledger.setLimit(1_000_000, of: nil)
    for _ in 0..<10 { simulation.add(speed: 10) }
    simulation.add()
    simulation.add()
    simulation.run(milliseconds: 10_000)
    Self.expect(simulation.total, near: 10_000_000)
    for flow in simulation.flows.prefix(10) { Self.expect(flow.arrived, near: 100_000, 0.15, "slow") }
    for flow in simulation.flows.suffix(2) { Self.expect(flow.arrived, near: 4_500_000, 0.1, "fast") }
  }

  @Test("a transfer that stops asking does not keep its part")
  func silent() {
    var simulation = Simulation()
    simulation.ledger.setLimit(1_000_000, of: nil)
    simulation.add()
    simulation.add()
    simulation.run(milliseconds: 1000)
    simulation.flows[0].speed = 0
    simulation.flows[0].sent = 0
    let before = simulation.total
    simulation.run(milliseconds: 5000)
    Self.expect(simulation.total - before, near: 5_000_000, 0.05)
  }

  @Test("a batch with a limit, in a session with one: both hold, and the others get the rest")
  func batch() {
    var simulation = Simulation()
    simulation.ledger.setLimit(10_000_000, of: nil)
    simulation.ledger.setLimit(1_000_000, of: "batch")
    for _ in 0..<5 { simulation.add(["batch"]) }
    for _ in 0..<3 { simulation.add(["other"]) }
    simulation.run(milliseconds: 10_000)
    Self.expect(simulation.total, near: 100_000_000)
    Self.expect(simulation.flows.prefix(5).reduce(0) { $0 + $1.arrived }, near: 10_000_000)
    for flow in simulation.flows.suffix(3) { Self.expect(flow.arrived, near: 30_000_000, 0.1) }
  }

  @Test("a transfer's own limit, and its change")
  func own() throws {
    var simulation = Simulation()
    simulation.add(own: 100_000, piece: 1024)
    simulation.run(milliseconds: 10_000)
    Self.expect(simulation.total, near: 1_000_000)
    #expect(simulation.ledger.lowestLimit(try #require(simulation.flows[0].share)) == 100_000)
  }

  @Test(
    "a changed limit applies at once, in both directions",
    arguments: [(1_000_000, 50_000_000), (50_000_000, 1_000_000)])
  func change(_ first: Int64, _ second: Int64) {
    var simulation = Simulation()
    simulation.ledger.setLimit(first, of: "b")
    for _ in 0..<10 { simulation.add(["b"]) }
    simulation.run(milliseconds: 3000)
    let before = simulation.total
    simulation.ledger.setLimit(second, of: "b")
    simulation.run(milliseconds: 5000)
    Self.expect(simulation.total - before, near: 5 * second, 0.06)
    simulation.ledger.setLimit(nil, of: "b")
    let middle = simulation.total
    simulation.run(milliseconds: 1000)
    // The speed of the network: the limit has gone after 100 ms.
    #expect(simulation.total - middle > 400_000_000)
  }

  @Test("time without transfers is not saved up")
  func idle() {
    var simulation = Simulation()
    simulation.ledger.setLimit(1_000_000, of: nil)
    simulation.add()
    simulation.run(milliseconds: 1000)
    simulation.flows[0].speed = 0
    simulation.run(milliseconds: 60_000)
    let before = simulation.total
    simulation.flows[0].speed = nil
    simulation.run(milliseconds: 1000)
    #expect(simulation.total - before < 1_250_000)
  }

  @Test("a slow transfer that becomes fast does not get what it left over before")
  func slowThenFast() {
    var simulation = Simulation()
    simulation.ledger.setLimit(1_000_000, of: nil)
    simulation.add(speed: 200)
    simulation.run(milliseconds: 20_000)
    Self.expect(simulation.total, near: 4_000_000)
    let before = simulation.total
    simulation.flows[0].speed = nil
    simulation.run(milliseconds: 10_000)
    Self.expect(simulation.total - before, near: 10_000_000)
  }

  @Test("a transfer that begins beside others gets its first bytes within 200 ms")
  func begins() {
    var simulation = Simulation()
    simulation.ledger.setLimit(1_000_000, of: nil)
    for _ in 0..<5 { simulation.add() }
    simulation.run(milliseconds: 2050)
    simulation.add()
    simulation.run(milliseconds: 200)
    #expect(simulation.flows[5].arrived > 0)
  }

  @Test("without a limit there is no share; buckets without a limit and without transfers are forgotten")
  func forgotten() throws {
    var ledger = BandwidthLedger()
    var joined = ledger.join(["a"], own: nil)
    #expect(joined == nil)
    for round in 0..<1000 {
      ledger.setLimit(1000, of: "\(round)")
      joined = ledger.join(["\(round)"], own: 5)
      let share = try #require(joined)
      ledger.setLimit(nil, of: "\(round)")
      #expect(ledger.lowestLimit(share) == 5)
      ledger.leave(share)
    }
    #expect(ledger.bucketCount <= 3)
    joined = ledger.join(["7"], own: nil)
    #expect(joined == nil)
  }

  @Test("extreme limits and pieces do not overflow")
  func extremes() throws {
    var ledger = BandwidthLedger()
    let start = ContinuousClock.now
    ledger.setLimit(.max, of: nil)
    ledger.setLimit(.min, of: "a")
    let joined = ledger.join(["a"], own: .max)
    let share = try #require(joined)
    for step in [0, 1, 100, 101, 1_000_000_000, 1_000_000_001] {
      _ = ledger.allowance(share, now: start + .seconds(step))
      ledger.take(.max, share)
    }
    ledger.setLimit(1, of: nil)
    #expect(ledger.lowestLimit(share) == 1)
    let allowance = ledger.allowance(share, now: start)
    #expect(allowance == 0)
  }
}
