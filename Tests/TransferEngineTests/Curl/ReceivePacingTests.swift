import Foundation
import TestSupport
import Testing

@testable import TransferEngine

@Suite struct ReceivePacingTests {
  private static let start = ContinuousClock.now

  /// Reads pieces of 1000 bytes at a speed.
  private struct Reader {
    var pacing: ReceivePacing
    var now = start
    var thresholds: [Int64] = []

    init(rest: Int64) { pacing = ReceivePacing(rest: rest, now: now) }

    mutating func read(_ bytes: Int, perSecond speed: Int, interval: Duration = .seconds(1)) {
      for _ in 0..<(bytes / 1000) {
        now += .seconds(1) * 1000 / speed
        if let threshold = pacing.take(1000, now: now, interval: interval) { thresholds.append(threshold) }
      }
    }
  }

  @Test("after a second the threshold is what arrives in the interval, and is set once")
  func rate() {
    var reader = Reader(rest: 1_000_000)
    reader.read(9000, perSecond: 10_000)
    #expect(reader.thresholds.isEmpty)
    reader.read(60_000, perSecond: 10_000)
    #expect(reader.thresholds == [10_000] && reader.pacing.isUseful)
  }

  @Test("the longest interval and the fastest transfer do not exceed what a socket's buffer holds")
  func maximum() {
    for (speed, interval) in [(10_000, Duration.seconds(60)), (50_000_000, .seconds(1))] {
      var reader = Reader(rest: 1 << 40)
      reader.read(60_000_000, perSecond: speed, interval: interval)
      #expect(reader.thresholds == [48 * 1024])
    }
  }

  @Test("the last bytes are never waited for: the threshold does not exceed the rest")
  func rest() {
    var reader = Reader(rest: 30_000)
    reader.read(12_000, perSecond: 10_000)
    #expect(reader.pacing.threshold == 10_000)
    for left in stride(from: 17_000, through: 0, by: -1000) {
      reader.read(1000, perSecond: 10_000)
      #expect(reader.pacing.threshold <= max(1, left))
    }
    #expect(reader.pacing.threshold == 1)
    // A server that sends more than it announced.
    reader.read(5000, perSecond: 10_000)
    #expect(reader.pacing.threshold == 1)
  }

  @Test("a transfer that becomes slower gets a lower threshold, and a very slow one is not paced")
  func slowdown() {
    var reader = Reader(rest: 1 << 40)
    reader.read(30_000, perSecond: 20_000)
    #expect(reader.pacing.threshold == 20_000)
    reader.read(20_000, perSecond: 10_000)
    #expect(reader.pacing.threshold == 10_000)
    reader.read(10_000, perSecond: 2000)
    #expect(reader.pacing.threshold == 1 && !reader.pacing.isUseful)
  }

  @Test("small changes of the speed change nothing")
  func jitter() {
    var reader = Reader(rest: 1 << 40)
    for speed in [10_000, 11_000, 9000, 12_000, 8000] { reader.read(speed * 2, perSecond: speed) }
    #expect(reader.thresholds.count == 1)
  }

  @Test("a release lets all bytes through, until a new measurement")
  func release() {
    var reader = Reader(rest: 1 << 40)
    reader.read(15_000, perSecond: 10_000)
    reader.pacing.release()
    #expect(reader.pacing.threshold == 1)
    reader.read(3000, perSecond: 10_000)
    #expect(reader.pacing.threshold == 1)
    reader.read(10_000, perSecond: 10_000)
    #expect(reader.pacing.threshold == 10_000)
  }
}
