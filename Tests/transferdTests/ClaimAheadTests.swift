import Foundation
import Testing

@testable import transferd

@Suite struct ClaimAheadTests {
  private static let start = Date(timeIntervalSince1970: 1_000_000)

  /// Small files of one origin that arrive at a speed.
  private struct Arrivals {
    var widths = OriginWidths()
    var now = start

    mutating func receive(_ count: Int, speed: Double) {
      for _ in 0..<count {
        now += 1 / speed
        widths.recordFile(of: "a", isLarge: false, now: now)
      }
    }

    func claims(maxActive: Int = 64) -> Int { widths.claims(of: "a", maxActive: maxActive) }
  }

  /// An origin with jobs that are claimed in advance.
  private static func fast(_ lane: TransferLane = .downloads) -> Arrivals {
    var arrivals = Arrivals()
    arrivals.widths.recordStart(of: "a", in: lane)
    arrivals.receive(100, speed: 2000)
    return arrivals
  }

  @Test(
    "jobs of an origin with thousands of small files a second are claimed in advance, those of a slower one are not")
  func speed() {
    var arrivals = Arrivals()
    arrivals.widths.recordStart(of: "a", in: .downloads)
    arrivals.receive(5, speed: 500)
    #expect(arrivals.claims() == 8 && arrivals.widths.takeChangedConnections().isEmpty)
    arrivals.receive(60, speed: 2000)
    #expect(arrivals.claims() == 56)
    #expect(arrivals.widths.takeChangedConnections() == ["a": 8])
    #expect(arrivals.widths.takeChangedConnections().isEmpty)
    #expect(arrivals.widths.limit(of: "a") == 8)
    arrivals.receive(1, speed: 0.5)
    #expect(arrivals.claims() == arrivals.widths.limit(of: "a"))
    #expect(arrivals.widths.takeChangedConnections() == ["a": Int?.none])
  }

  @Test("a wider trial lets more of the claimed jobs transfer")
  func width() {
    var arrivals = Self.fast()
    _ = arrivals.widths.takeChangedConnections()
    arrivals.receive(20, speed: 2000)
    #expect(arrivals.widths.limit(of: "a") == 16)
    #expect(arrivals.widths.takeChangedConnections() == ["a": 16])
  }

  @Test("the daemon's limit leaves slots for other origins", arguments: [(64, 56), (1000, 64), (20, 12), (4, 8)])
  func maximum(_ maxActive: Int, _ claims: Int) {
    #expect(Self.fast().claims(maxActive: maxActive) == claims)
  }

  @Test("transfers that do not wait for each other's connections end it")
  func lanes() {
    #expect(Self.fast(.uploads).claims() == 56)
    #expect(Self.fast(.alone).claims() == 8)
    var arrivals = Self.fast()
    arrivals.widths.recordStart(of: "a", in: .downloads)
    #expect(arrivals.claims() == 56)
    arrivals.widths.recordStart(of: "a", in: .uploads)
    #expect(arrivals.claims() == 8)
  }

  @Test("a refusal, a large file and a transfer of one end it at once")
  func stops() {
    for stop: @Sendable (inout OriginWidths, Date) -> Void in [
      { $0.recordRefusal(by: "a", now: $1) }, { $0.recordFile(of: "a", isLarge: true, now: $1) },
      { widths, _ in widths.startLargeFile(of: "a") },
    ] {
      var arrivals = Self.fast()
      _ = arrivals.widths.takeChangedConnections()
      stop(&arrivals.widths, arrivals.now)
      #expect(arrivals.claims() <= 8)
      #expect(arrivals.widths.takeChangedConnections() == ["a": Int?.none])
    }
  }

  @Test("a clock that is set back does not stop the measurement")
  func clockSetBack() {
    var arrivals = Arrivals()
    arrivals.widths.recordStart(of: "a", in: .downloads)
    arrivals.receive(10, speed: 2000)
    arrivals.now -= 86_400
    arrivals.receive(100, speed: 2000)
    #expect(arrivals.claims() == 56)
  }

  @Test("an origin that is forgotten gives its limit of connections back")
  func pruning() {
    var arrivals = Self.fast()
    _ = arrivals.widths.takeChangedConnections()
    for number in 0...OriginWidths.capacity { arrivals.widths.recordRefusal(by: "\(number)", now: arrivals.now) }
    arrivals.widths.prune { $0 != "a" }
    #expect(arrivals.widths.takeChangedConnections() == ["a": Int?.none])
  }
}
