import FoundationEssentials
import Testing

@testable import Store
@testable import transferd

@Suite struct OriginGovernorTests {
  private let now = Date(timeIntervalSince1970: 1_000_000)

  @Test("Retry-After closes the origin for all its jobs until the time is over")
  func retryAfter() {
    var governor = OriginGovernor(now: now)
    _ = governor.close("a", for: .seconds(30), now: now)
    #expect(governor.capacity(of: "a", now: now) == 0)
    #expect(governor.capacity(of: "b", now: now) == .max)
    #expect(Set(governor.reopenTimes(after: now).keys) == ["a"])
    #expect(governor.reopenTimes(after: now) == ["a": now.addingTimeInterval(30)])
    #expect(governor.capacity(of: "a", now: now.addingTimeInterval(31)) == .max)
  }

  @Test("a shorter Retry-After does not open an origin earlier, and none closes it for more than a day")
  func bounds() {
    var governor = OriginGovernor(now: now)
    _ = governor.close("a", for: .seconds(60), now: now)
    _ = governor.close("a", for: .seconds(5), now: now)
    #expect(governor.reopenTime(of: "a", after: now) == now.addingTimeInterval(60))
    _ = governor.close("b", for: .seconds(1e9), now: now)
    #expect(governor.isClosed("b", now: now.addingTimeInterval(86_399)))
    #expect(!governor.isClosed("b", now: now.addingTimeInterval(86_401)))
  }

  @Test("an explicit retry opens a blocked origin, and the change is reported only once")
  func open() {
    var governor = OriginGovernor(now: now)
    _ = governor.close("a", for: .seconds(60), now: now)
    #expect(governor.reopen("a", now: now)?.blockedUntil == nil)
    #expect(governor.capacity(of: "a", now: now) == .max)
    #expect(governor.reopen("a", now: now) == nil)
    #expect(governor.reopen("b", now: now) == nil)
    // An unreachable origin is still only probed.
    for second in 0...60 { governor.recordConnectionFailure(to: "c", now: now.addingTimeInterval(Double(second))) }
    let later = now.addingTimeInterval(61)
    #expect(governor.capacity(of: "c", now: later) == 0)
    // It was not blocked, so there is nothing to store.
    #expect(governor.reopen("c", now: later) == nil)
    #expect(governor.capacity(of: "c", now: later) == 1)
  }

  @Test("a burst of failed connections does not limit an origin")
  func burst() {
    var governor = OriginGovernor(now: now)
    for _ in 0..<1000 { governor.recordConnectionFailure(to: "a", now: now) }
    #expect(governor.capacity(of: "a", now: now) == .max)
  }

  @Test("an origin that is unreachable for a minute is probed by one job at intervals, until it responds")
  func gone() {
    var governor = OriginGovernor(now: now)
    for second in 0...60 { governor.recordConnectionFailure(to: "a", now: now.addingTimeInterval(Double(second))) }
    let later = now.addingTimeInterval(61)
    #expect(governor.capacity(of: "a", now: later) == 0)
    let probing = now.addingTimeInterval(60 + OriginGovernor.probeInterval + 1)
    #expect(governor.capacity(of: "a", now: probing) == 1)
    governor.recordConnectionFailure(to: "a", now: probing)
    #expect(governor.capacity(of: "a", now: probing.addingTimeInterval(1)) == 0)
    governor.recordResponse(from: "a", now: probing.addingTimeInterval(OriginGovernor.probeInterval + 1))
    #expect(governor.capacity(of: "a", now: probing.addingTimeInterval(OriginGovernor.probeInterval + 1)) == .max)
  }

  @Test("when the network returns, unreachable origins open at once and blocked ones stay closed")
  func networkReturned() {
    var governor = OriginGovernor(now: now)
    for second in 0...60 { governor.recordConnectionFailure(to: "gone", now: now.addingTimeInterval(Double(second))) }
    let later = now.addingTimeInterval(61)
    _ = governor.close("asked", for: .seconds(300), now: later)
    #expect(Set(governor.reopenTimes(after: later).keys) == ["gone", "asked"])
    governor.networkReturned(now: later)
    #expect(governor.capacity(of: "gone", now: later) == .max)
    #expect(governor.capacity(of: "asked", now: later) == 0)
    #expect(governor.reopenTimes(after: later) == ["asked": later.addingTimeInterval(300)])
  }

  @Test("after a restart a block continues, but not for longer than its length")
  func stored() throws {
    var governor = OriginGovernor(now: now)
    _ = governor.close("a", for: .seconds(100), now: now)
    let until = try #require(governor.origins["a"]?.blockedUntil)
    #expect(until == now.addingTimeInterval(100))
    // The clock was set back by a day while the daemon was not running.
    let state = OriginState(name: "a", failures: 0, blockedUntil: until, updatedAt: now)
    let before = now.addingTimeInterval(-86400)
    let restored = OriginGovernor(stored: [state], now: before)
    #expect(restored.isClosed("a", now: before.addingTimeInterval(99)))
    #expect(!restored.isClosed("a", now: before.addingTimeInterval(101)))
    #expect(!OriginGovernor(stored: [state], now: now.addingTimeInterval(200)).isClosed("a", now: now))
  }
  @Test("an origin with two waits opens after the later one, and an open origin has no reopen time")
  func openings() {
    var governor = OriginGovernor(now: now)
    for second in 0...60 { governor.recordConnectionFailure(to: "a", now: now.addingTimeInterval(Double(second))) }
    let later = now.addingTimeInterval(61)
    _ = governor.close("a", for: .seconds(5), now: later)
    #expect(governor.reopenTime(of: "a", after: later) == now.addingTimeInterval(60 + OriginGovernor.probeInterval))
    _ = governor.close("a", for: .seconds(500), now: later)
    #expect(governor.reopenTimes(after: later) == ["a": later.addingTimeInterval(500)])
    #expect(governor.reopenTimes(after: later.addingTimeInterval(500)) == [:])
    #expect(governor.reopenTime(of: "b", after: later) == nil)
  }

  @Test("setting the clock back by a day while the daemon runs does not make a wait longer than its length")
  func clockSetBack() {
    var governor = OriginGovernor(now: now)
    for second in 0...60 { governor.recordConnectionFailure(to: "gone", now: now.addingTimeInterval(Double(second))) }
    let later = now.addingTimeInterval(61)
    _ = governor.close("asked", for: .seconds(300), now: later)
    governor.adjustToClock(later)
    #expect(governor.reopenTime(of: "asked", after: later) == later.addingTimeInterval(300))
    let back = later.addingTimeInterval(-86_400)
    governor.adjustToClock(back)
    #expect(governor.reopenTime(of: "asked", after: back) == back.addingTimeInterval(300))
    #expect(governor.reopenTime(of: "gone", after: back) == back.addingTimeInterval(OriginGovernor.probeInterval))
    // A second adjustment does not restart the wait.
    governor.adjustToClock(back.addingTimeInterval(100))
    #expect(governor.reopenTime(of: "asked", after: back.addingTimeInterval(100)) == back.addingTimeInterval(300))
  }
}
