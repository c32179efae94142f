import Testing

@testable import TransferEngine

@Suite struct SegmentGrowthTests {
  private let rest: Int64 = 1 << 40

  @Test("a fixed number is used at once and does not grow")
  func fixed() {
    var growth = SegmentGrowth(.fixed(8))
    #expect(growth.allowed == 8)
    growth.measured(rate: 1000, rest: rest, connections: 8)
    #expect(growth.allowed == 8)
  }

  @Test("automatic adds connections while each brings more, up to its limit")
  func grows() {
    var growth = SegmentGrowth(.automatic(upTo: 4))
    #expect(growth.allowed == 1)
    for connections in 1...5 {
      growth.measured(
        rate: Double(connections) * 1000, rest: rest, connections: growth.allowed)
      #expect(growth.allowed == min(connections + 1, 4))
    }
  }

  @Test("a connection that brings nothing is taken back, and no other follows")
  func settles() {
    var growth = SegmentGrowth(.automatic(upTo: 4))
    growth.measured(rate: 1000, rest: rest, connections: 1)
    #expect(growth.allowed == 2)
    growth.measured(rate: 1050, rest: rest, connections: 2)
    #expect(growth.allowed == 1)
    growth.measured(rate: 9000, rest: rest, connections: 1)
    #expect(growth.allowed == 1)
  }

  @Test("no connection is added for a rest of a few seconds, without a rate, or while one is missing")
  func limits() {
    var growth = SegmentGrowth(.automatic(upTo: 4))
    growth.measured(rate: 1000, rest: 3000, connections: 1)
    growth.measured(rate: 0, rest: rest, connections: 1)
    growth.measured(rate: 1000, rest: rest, connections: 0)
    #expect(growth.allowed == 1)
    growth.measured(rate: 1000, rest: rest, connections: 1)
    #expect(growth.allowed == 2)
  }

  @Test("a refusal reduces the number for the rest of the attempt, never below one")
  func refused() {
    var growth = SegmentGrowth(.fixed(8))
    growth.refused(connections: 3)
    #expect(growth.allowed == 3)
    growth.refused(connections: 0)
    #expect(growth.allowed == 1)
    var automatic = SegmentGrowth(.automatic(upTo: 4))
    automatic.refused(connections: 1)
    automatic.measured(rate: 1000, rest: rest, connections: 1)
    #expect(automatic.allowed == 1)
  }

  @Test(
    "impossible numbers of connections are brought into the range",
    arguments: [(-5, 1), (0, 1), (1, 1), (32, 32), (33, 32), (Int.max, 32)])
  func bounds(count: Int, expected: Int) {
    #expect(SegmentPolicy.fixed(count).maximum == expected)
    #expect(SegmentGrowth(.fixed(count)).allowed == expected)
    #expect(SegmentPolicy.automatic(upTo: count).maximum == expected)
  }
}
