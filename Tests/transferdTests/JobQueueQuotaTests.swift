import Foundation
import Testing
import TransferAPI

@testable import transferd

/// What runs while the day's quota is used up. JobQueueSimulationTests checks that nothing begins meanwhile.
@Suite struct JobQueueQuotaTests {
  private static let now = Date(timeIntervalSince1970: 1_000_000)

  private func claim(
    _ id: Int64, isResumable: Bool = false, isRevocable: Bool = false
  ) -> JobQueueEvent.Claim {
    .init(job: JobID(id), origin: "a", fence: 1, isResumable: isResumable, isRevocable: isRevocable)
  }

  private func queue(_ quotaEnds: Date?, claimed: [JobQueueEvent.Claim]) -> (JobQueue, [JobQueueAction]) {
    var queue = JobQueue(
      limits: .init(admission: Admission(maxActive: 9, maxPerOrigin: .fixed(9))),
      governor: OriginGovernor(now: Self.now))
    _ = queue.handle(.jobsChanged, now: Self.now)
    if let quotaEnds { _ = queue.handle(.quotaUsedUp(until: quotaEnds), now: Self.now) }
    let actions = queue.handle(.turned(.init(claimed: claimed)), now: Self.now)
    return (queue, actions)
  }

  @Test("jobs that the store claims while the quota is used up stop at once, except uploads")
  func claimedMeanwhile() {
    // Uploads are not revocable: a request may have been sent, and nobody knows whether it arrived.
    let claims = [claim(1, isRevocable: true), claim(2), claim(3, isResumable: true, isRevocable: true)]
    let (used, actions) = queue(Self.now + 60, claimed: claims)
    #expect(actions.prefix(2) == [.start([1, 2, 3]), .cancel([1, 3])])
    #expect(used.attempts[1]?.stop == .quota && used.attempts[2]?.stop == nil)
    for quotaEnds in [nil, Self.now] {
      let (_, actions) = queue(quotaEnds, claimed: claims)
      #expect(actions.contains(.start([1, 2, 3])))
      #expect(!actions.contains { if case .cancel = $0 { true } else { false } })
    }
  }

  @Test("what can be resumed may be stopped, once, as soon as that is known")
  func resumable() {
    var (queue, _) = queue(nil, claimed: [claim(1, isResumable: true), claim(2), claim(3)])
    #expect(queue.resumableTransfers == [1])
    _ = queue.handle(.stop([1], .quota), now: Self.now)
    #expect(queue.resumableTransfers.isEmpty)
    _ = queue.handle(.foundResumable(2, fence: 1), now: Self.now)
    #expect(queue.resumableTransfers == [2])
    _ = queue.handle(.transferred([.init(job: 2, fence: 1, isLarge: true)]), now: Self.now)
    #expect(queue.resumableTransfers.isEmpty)
  }
}
