import Testing
import TransferAPI

@testable import transferd

@Suite struct SpoolLedgerTests {
  /// A ledger whose changes can be expressions of an expectation.
  private final class Spool {
    private var ledger: SpoolLedger
    private var now = ContinuousClock.now
    init(limit: Int64) { ledger = SpoolLedger(limit: limit) }

    var total: Int64 { ledger.total }
    var reserved: [JobID: Int64] { ledger.reserved }
    func setLimit(_ limit: Int64) { ledger.limit = limit }
    func reserve(_ bytes: Int64, for job: JobID) -> Bool { ledger.reserve(bytes, for: job, now: now) }
    func hold(_ bytes: Int64, for job: JobID, isWaiting: Bool = false) {
      ledger.hold(bytes, for: job, isWaiting: isWaiting)
    }
    func keepsBytes(whileWaiting job: JobID) -> Bool { ledger.keepsBytes(whileWaiting: job) }
    func release(_ job: JobID) -> Bool { ledger.release(job, now: now) }
    func wait(_ seconds: Int) { now += .seconds(seconds) }
    func refusal(of bytes: Int64, for job: JobID) -> String { ledger.refusal(of: bytes, for: job, now: now) }
  }

  @Test("files of known length have room until the limit is reached, and again when one of them has gone")
  func known() {
    let ledger = Spool(limit: 100)
    #expect(ledger.reserve(60, for: 1))
    #expect(!ledger.reserve(41, for: 4))
    #expect(ledger.reserve(40, for: 3))
    #expect(ledger.total == 100)
    // It has begun, so it can end.
    #expect(ledger.reserve(60, for: 1) && ledger.reserve(10, for: 1))
    #expect(ledger.release(3) && !ledger.release(3))
    #expect(ledger.reserve(40, for: 2))
    #expect(ledger.total == 100)
  }

  @Test("a relay that waits without bytes reserves nothing")
  func waiting() {
    let ledger = Spool(limit: 100)
    #expect(ledger.reserve(60, for: 1))
    #expect(!ledger.reserve(60, for: 2) && !ledger.keepsBytes(whileWaiting: 2))
    #expect(ledger.reserved == [1: 60])
  }

  @Test("a large file gets its room, however many small ones come after it")
  func line() {
    let ledger = Spool(limit: 100)
    for job: JobID in [1, 2, 3, 4] { #expect(ledger.reserve(20, for: job)) }
    #expect(!ledger.reserve(70, for: 5))
    // Beside its room there is some for one small file; the others wait.
    #expect(!ledger.reserve(20, for: 6))
    #expect(ledger.refusal(of: 20, for: 6).contains("70 are kept for job 5"))
    #expect(ledger.release(1) && ledger.release(2) && !ledger.reserve(20, for: 6) && !ledger.reserve(70, for: 5))
    #expect(ledger.release(3) && !ledger.reserve(20, for: 7))
    #expect(ledger.reserve(70, for: 5) && !ledger.reserve(20, for: 6))
    #expect(ledger.release(4) && ledger.reserve(20, for: 6))
    #expect(ledger.total == 90)
  }

  @Test("room is kept for as long as its relay asks, and while other relays give theirs back")
  func places() {
    let ledger = Spool(limit: 100)
    #expect(ledger.reserve(50, for: 1) && !ledger.reserve(60, for: 2) && !ledger.reserve(20, for: 3))
    // Paused, for example.
    ledger.wait(60)
    #expect(ledger.reserve(20, for: 3) && ledger.release(3))
    // It has ended otherwise.
    #expect(!ledger.reserve(60, for: 2) && !ledger.reserve(20, for: 3))
    ledger.hold(0, for: 2)
    #expect(ledger.reserve(20, for: 3) && ledger.release(3))
    // It waits in vain: the copy of job 1 stays.
    for _ in 0..<45 {
      #expect(!ledger.reserve(60, for: 2) && !ledger.reserve(20, for: 3))
      ledger.hold(0, for: 2, isWaiting: true)
      ledger.wait(40)
    }
    #expect(!ledger.reserve(60, for: 2) && ledger.reserve(20, for: 3))
  }

  @Test("of two files of unknown length that need each other's room, the one that was added first keeps its bytes")
  func unknown() {
    let ledger = Spool(limit: 100)
    #expect(ledger.reserve(50, for: 7) && ledger.reserve(50, for: 5))
    #expect(!ledger.reserve(51, for: 7))
    #expect(ledger.keepsBytes(whileWaiting: 7))
    ledger.hold(50, for: 7, isWaiting: true)
    #expect(!ledger.reserve(51, for: 5))
    #expect(ledger.keepsBytes(whileWaiting: 5))
    #expect(!ledger.keepsBytes(whileWaiting: 7))
    ledger.hold(0, for: 7)
    #expect(ledger.reserve(100, for: 5))
    // It has ended: the next one that waits is the first.
    ledger.hold(100, for: 5)
    ledger.hold(1, for: 9)
    #expect(ledger.keepsBytes(whileWaiting: 9))
  }

  @Test("two files that grow piece by piece both end, whatever their order", arguments: [(60, 70), (70, 60), (99, 99)])
  func growth(_ sizes: (Int64, Int64)) {
    let ledger = Spool(limit: 100)
    var sizes: [JobID: Int64] = [1: sizes.0, 2: sizes.1]
    var have: [JobID: Int64] = [1: 0, 2: 0]
    var steps = 0
    while !sizes.isEmpty, steps < 10_000 {
      for (job, size) in sizes.sorted(by: { $0.key > $1.key }) {
        steps += 1
        let next = min(size, have[job, default: 0] + 7)
        guard ledger.reserve(next, for: job) else {
          if !ledger.keepsBytes(whileWaiting: job) { have[job] = 0 }
          ledger.hold(have[job, default: 0], for: job, isWaiting: true)
          continue
        }
        have[job] = next
        #expect(ledger.total <= 100)
        if next == size {
          sizes[job] = nil
          _ = ledger.release(job)
        }
      }
    }
    #expect(sizes.isEmpty)
  }

  @Test("what is on disk counts after a lower limit, too, and sums do not overflow")
  func lowered() {
    let ledger = Spool(limit: 100)
    ledger.hold(90, for: 1)
    ledger.setLimit(50)
    #expect(!ledger.reserve(1, for: 2) && ledger.reserve(90, for: 1))
    ledger.hold(.max, for: 3)
    #expect(ledger.total == .max && !ledger.reserve(.max, for: 2))
    #expect(ledger.refusal(of: 1, for: 2).contains("spoolMax 50"))
  }
}
