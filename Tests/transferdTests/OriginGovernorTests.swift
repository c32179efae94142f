import FoundationEssentials
import Testing

@testable import Store
@testable import transferd

@Suite struct OriginGovernorTests {
  private let now = Date(timeIntervalSince1970: 1_000_000)

  @Test("Retry-After closes the origin for all its jobs, and opens it in time")
  func retryAfter() {
    var governor = OriginGovernor(now: now)
    _ = governor.close("a", for: .seconds(30), now: now)
    #expect(governor.capacity(of: "a", now: now) == 0)
    #expect(governor.capacity(of: "b", now: now) == .max)
    #expect(governor.blocked(now: now) == ["a"])
    #expect(governor.openings(after: now) == ["a": now.addingTimeInterval(30)])
    #expect(governor.capacity(of: "a", now: now.addingTimeInterval(31)) == .max)
  }

  @Test("a shorter wish does not open an origin earlier, and no wish closes it for more than a day")
  func bounds() {
    var governor = OriginGovernor(now: now)
    _ = governor.close("a", for: .seconds(60), now: now)
    _ = governor.close("a", for: .seconds(5), now: now)
    #expect(governor.opening(of: "a", after: now) == now.addingTimeInterval(60))
    _ = governor.close("b", for: .seconds(1e9), now: now)
    #expect(governor.isBlocked("b", now: now.addingTimeInterval(86_399)))
    #expect(!governor.isBlocked("b", now: now.addingTimeInterval(86_401)))
  }

  @Test("a person's wish opens an origin, and is told only once")
  func open() {
    var governor = OriginGovernor(now: now)
    _ = governor.close("a", for: .seconds(60), now: now)
    #expect(governor.open("a", now: now)?.blockedUntil == nil)
    #expect(governor.capacity(of: "a", now: now) == .max)
    #expect(governor.open("a", now: now) == nil)
    #expect(governor.open("b", now: now) == nil)
    // One that is gone is still only probed.
    for second in 0...60 { governor.failed("c", now: now.addingTimeInterval(Double(second))) }
    let later = now.addingTimeInterval(61)
    #expect(governor.capacity(of: "c", now: later) == 0)
    // It did not ask for anything that was stored.
    #expect(governor.open("c", now: later) == nil)
    #expect(governor.capacity(of: "c", now: later) == 1)
  }

  @Test("a burst of refused connections holds nothing back")
  func burst() {
    var governor = OriginGovernor(now: now)
    for _ in 0..<1000 { governor.failed("a", now: now) }
    #expect(governor.capacity(of: "a", now: now) == .max)
  }

  @Test("an origin that is gone for a minute is probed by one job now and then, until it answers")
  func gone() {
    var governor = OriginGovernor(now: now)
    for second in 0...60 { governor.failed("a", now: now.addingTimeInterval(Double(second))) }
    let later = now.addingTimeInterval(61)
    #expect(governor.capacity(of: "a", now: later) == 0)
    let probing = now.addingTimeInterval(60 + OriginGovernor.probeInterval + 1)
    #expect(governor.capacity(of: "a", now: probing) == 1)
    governor.failed("a", now: probing)
    #expect(governor.capacity(of: "a", now: probing.addingTimeInterval(1)) == 0)
    governor.answered("a", now: probing.addingTimeInterval(OriginGovernor.probeInterval + 1))
    #expect(governor.capacity(of: "a", now: probing.addingTimeInterval(OriginGovernor.probeInterval + 1)) == .max)
  }

  @Test("when the network returns, what was gone is looked for at once; who asked to be left alone still is")
  func networkReturned() {
    var governor = OriginGovernor(now: now)
    for second in 0...60 { governor.failed("gone", now: now.addingTimeInterval(Double(second))) }
    let later = now.addingTimeInterval(61)
    _ = governor.close("asked", for: .seconds(300), now: later)
    #expect(governor.blocked(now: later) == ["gone", "asked"])
    governor.networkReturned(now: later)
    #expect(governor.capacity(of: "gone", now: later) == .max)
    #expect(governor.capacity(of: "asked", now: later) == 0)
    #expect(governor.openings(after: later) == ["asked": later.addingTimeInterval(300)])
  }

  @Test("after a restart a block goes on, but no longer than it was meant to")
  func stored() throws {
    var governor = OriginGovernor(now: now)
    _ = governor.close("a", for: .seconds(100), now: now)
    let until = try #require(governor.origins["a"]?.blockedUntil)
    #expect(until == now.addingTimeInterval(100))
    // The clock was set back by a day while the daemon was away.
    let state = OriginState(name: "a", failures: 0, blockedUntil: until, updatedAt: now)
    let before = now.addingTimeInterval(-86400)
    let restored = OriginGovernor(stored: [state], now: before)
    #expect(restored.isBlocked("a", now: before.addingTimeInterval(99)))
    #expect(!restored.isBlocked("a", now: before.addingTimeInterval(101)))
    #expect(!OriginGovernor(stored: [state], now: now.addingTimeInterval(200)).isBlocked("a", now: now))
  }
  @Test("an origin with two waits opens after the later one, and an open one does not open")
  func openings() {
    var governor = OriginGovernor(now: now)
    for second in 0...60 { governor.failed("a", now: now.addingTimeInterval(Double(second))) }
    let later = now.addingTimeInterval(61)
    _ = governor.close("a", for: .seconds(5), now: later)
    #expect(governor.opening(of: "a", after: later) == now.addingTimeInterval(60 + OriginGovernor.probeInterval))
    _ = governor.close("a", for: .seconds(500), now: later)
    #expect(governor.openings(after: later) == ["a": later.addingTimeInterval(500)])
    #expect(governor.openings(after: later.addingTimeInterval(500)) == [:])
    #expect(governor.opening(of: "b", after: later) == nil)
  }

  @Test("a clock that is set back by a day while the daemon runs prolongs no wait beyond its own length")
  func clockSetBack() {
    var governor = OriginGovernor(now: now)
    for second in 0...60 { governor.failed("gone", now: now.addingTimeInterval(Double(second))) }
    let later = now.addingTimeInterval(61)
    _ = governor.close("asked", for: .seconds(300), now: later)
    governor.noticeClock(later)
    #expect(governor.opening(of: "asked", after: later) == later.addingTimeInterval(300))
    let back = later.addingTimeInterval(-86_400)
    governor.noticeClock(back)
    #expect(governor.opening(of: "asked", after: back) == back.addingTimeInterval(300))
    #expect(governor.opening(of: "gone", after: back) == back.addingTimeInterval(OriginGovernor.probeInterval))
    // Looking again does not begin the wait again.
    governor.noticeClock(back.addingTimeInterval(100))
    #expect(governor.opening(of: "asked", after: back.addingTimeInterval(100)) == back.addingTimeInterval(300))
  }
}
