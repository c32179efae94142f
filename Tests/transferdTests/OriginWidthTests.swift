import Foundation
import Testing

@testable import transferd

@Suite struct OriginWidthTests {
  private static let start = Date(timeIntervalSince1970: 1_000_000)

  /// Small files that arrive at a speed which depends on the width.
  private struct Arrivals {
    var width = OriginWidth()
    var now = start

    /// - Parameter speed: files a second at a width.
    mutating func receive(_ count: Int, speed: (Int) -> Double) {
      for _ in 0..<count {
        now += 1 / speed(width.width)
        width.recordSmallFile(now: now)
      }
    }
  }

  @Test("it grows from 8 to 32 while the speed grows with it")
  func growth() {
    var arrivals = Arrivals()
    #expect(arrivals.width.limit(hasLargeFiles: false) == 8)
    arrivals.receive(200, speed: { Double($0) * 100 })
    #expect(arrivals.width.limit(hasLargeFiles: false) == 32)
    arrivals.receive(10_000, speed: { Double($0) * 100 })
    #expect(arrivals.width.width == 32)
  }

  @Test("a width that brings nothing is given up, and tried again after 30 s")
  func trial() {
    var arrivals = Arrivals()
    var widest = 0
    arrivals.receive(1000) { width in
      widest = max(widest, width)
      return 800
    }
    #expect(widest == 16 && arrivals.width.width == 8)
    arrivals.now += OriginWidth.holdTime
    arrivals.receive(1000) { Double(min($0, 16)) * 100 }
    #expect(arrivals.width.width == 16, "32 brings no more than 16")
  }

  @Test("fast arrivals are measured for at least 50 ms")
  func shortMeasurement() {
    var arrivals = Arrivals()
    arrivals.receive(100, speed: { _ in 1_000_000 })
    #expect(arrivals.width.width == 8)
  }

  @Test("a refusal halves it at once; refusals of one second count once; it is never below 1")
  func refusal() {
    var width = OriginWidth()
    width.recordRefusal(now: Self.start)
    #expect(width.width == 4)
    for tenth in 1..<10 { width.recordRefusal(now: Self.start + Double(tenth) / 10) }
    #expect(width.width == 4)
    for second in 1..<6 { width.recordRefusal(now: Self.start + Double(second)) }
    #expect(width.width == 1)
  }

  @Test("after 30 s without refusals it grows to 8, whatever the speed")
  func recovery() {
    var arrivals = Arrivals()
    for second in 0..<5 { arrivals.width.recordRefusal(now: Self.start + Double(second)) }
    arrivals.now += 10
    arrivals.receive(50, speed: { _ in 10 })
    #expect(arrivals.width.width == 1)
    arrivals.now += OriginWidth.holdTime
    arrivals.receive(42, speed: { _ in 10 })
    #expect(arrivals.width.width == 8)
  }

  @Test("large files are transferred 8 at once, and end a trial")
  func large() {
    var arrivals = Arrivals()
    arrivals.receive(200, speed: { Double($0) * 100 })
    #expect(arrivals.width.limit(hasLargeFiles: true) == 8)
    arrivals.width.recordLargeFile(now: arrivals.now)
    #expect(arrivals.width.limit(hasLargeFiles: false) == 8)
  }

  @Test("after a refusal an origin of large files alone gets back to 8, after 30 s")
  func recoveryOfLargeFiles() {
    var width = OriginWidth()
    for second in 0..<5 { width.recordRefusal(now: Self.start + Double(second)) }
    width.recordLargeFile(now: Self.start + 20)
    #expect(width.width == 1)
    for number in 0..<5 { width.recordLargeFile(now: Self.start + 40 + Double(number)) }
    #expect(width.width == 8)
  }

  @Test("a clock that is set back by a year stops neither growth nor refusals")
  func clockSetBack() {
    var arrivals = Arrivals()
    arrivals.width.recordRefusal(now: arrivals.now)
    arrivals.now -= 86_400 * 365
    arrivals.width.recordRefusal(now: arrivals.now)
    #expect(arrivals.width.width == 2)
    arrivals.now -= 1
    arrivals.receive(100, speed: { Double($0) * 100 })
    #expect(arrivals.width.width > 8)
  }

  @Test("each origin has its own width; a transfer of a large file bounds only its own")
  func origins() {
    var widths = OriginWidths()
    var now = Self.start
    for _ in 0..<200 {
      now += 1 / (Double(widths.limit(of: "a")) * 100)
      widths.recordFile(of: "a", isLarge: false, now: now)
    }
    #expect(widths.limit(of: "a") == 32 && widths.limit(of: "b") == 8)
    #expect(widths.widest(of: ["a", "b"]) == 32 && widths.widest(of: ["b"]) == 8 && widths.widest(of: []) == 8)
    widths.startLargeFile(of: "a")
    widths.startLargeFile(of: "a")
    widths.endLargeFile(of: "a")
    #expect(widths.limit(of: "a") == 8)
    widths.endLargeFile(of: "a")
    widths.endLargeFile(of: "a")
    #expect(widths.limit(of: "a") == 32)
  }

  @Test("only so many origins are remembered, and those with transfers always")
  func pruning() {
    var widths = OriginWidths()
    for number in 0..<(OriginWidths.capacity + 1) { widths.recordRefusal(by: "\(number)", now: Self.start) }
    widths.prune { $0 == "7" }
    #expect(widths.limit(of: "7") == 4 && widths.limit(of: "8") == 8)
  }
}
