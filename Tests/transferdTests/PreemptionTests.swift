import Foundation
import Store
import Testing
import TransferAPI

@testable import transferd

@Suite struct PreemptionTests {
  private static let now = Date(timeIntervalSince1970: 1_000_000)
  private static let origin = "https://h:443"

  /// A queue that is full of transfers with these priorities; the ids begin with 1.
  private func queue(_ priorities: [Int], resumable: Bool = true, perOrigin: Int = 100) -> JobQueue {
    var queue = JobQueue(
      limits: .init(admission: Admission(maxActive: priorities.count, maxPerOrigin: .fixed(perOrigin))),
      governor: OriginGovernor(now: Self.now))
    _ = queue.handle(.jobsChanged, now: Self.now)
    _ = queue.handle(.found([], search(queue), wakeTime: nil), now: Self.now)
    let claims = priorities.enumerated().map { index, priority in
      JobQueueEvent.Claim(
        job: JobID(Int64(index + 1)), origin: Self.origin, fence: 1, priority: priority, isResumable: resumable)
    }
    _ = queue.handle(.turned(.init(claimed: claims)), now: Self.now)
    return queue
  }

  private func search(_ queue: JobQueue) -> JobQueueAction.Search {
    .init(excludedOrigins: [], reopenTimes: [:], limit: 512)
  }

  private func candidate(_ id: Int64, _ priority: Int, _ origin: String = origin) -> Candidate {
    Candidate(id: JobID(id), origin: origin, priority: priority)
  }

  /// Jobs with these priorities are added and found; ids from 100.
  private func add(_ priorities: [Int], to queue: inout JobQueue, at time: Date = now) -> [JobQueueAction] {
    find(priorities, after: queue.handle(.jobsChanged, now: time), in: &queue, at: time)
  }

  /// The search among the actions finds jobs with these priorities; ids from 100.
  private func find(
    _ priorities: [Int], after actions: [JobQueueAction], in queue: inout JobQueue, at time: Date = now
  ) -> [JobQueueAction] {
    guard case .search(let search)? = actions.last else { return actions }
    let found = priorities.enumerated().map { candidate(Int64(100 + $0), $1) }
    return queue.handle(.found(found, search, wakeTime: nil), now: time)
  }

  @Test("a waiting job of higher priority takes the slot of the lowest one, of which the last")
  func takes() {
    var queue = queue([1, 0, 0, 2])
    #expect(add([1], to: &queue) == [.cancel([3])])
    #expect(queue.attempts[3]?.stop == .preemption)
    // While it stops, no other one does.
    #expect(queue.handle(.foundResumable(1, fence: 1), now: Self.now) == [])
    // The turn that stores its end claims the waiting job.
    #expect(queue.handle(.ended([3]), now: Self.now) == [.turn(ending: [3], claiming: [100])])
    // The stopped job is found again.
    let end = JobQueueEvent.End(job: 3, origin: Self.origin)
    let claim = JobQueueEvent.Claim(job: 100, origin: Self.origin, fence: 1, priority: 1)
    let actions = queue.handle(.turned(.init(ended: [end], claimed: [claim])), now: Self.now)
    #expect(actions.contains { if case .search = $0 { true } else { false } }, "\(actions)")
  }

  @Test("equal and lower priorities wait, and so does everything while a slot is free")
  func waits() {
    var full = queue([1, 1])
    #expect(add([1, 0], to: &full) == [])
    var free = queue([0, 0])
    var limits = free.limits
    limits.admission.maxActive = 3
    let actions = free.handle(.limitsChanged(limits), now: Self.now)
    #expect(find([5], after: actions, in: &free) == [.turn(ending: [], claiming: [100])])
  }

  @Test("a new priority of a running job counts")
  func changed() {
    var queue = queue([0, 0])
    _ = queue.handle(.priorityChanged([1, 2], 3), now: Self.now)
    #expect(add([3], to: &queue) == [])
    #expect(queue.handle(.priorityChanged([1], -1), now: Self.now) == [.cancel([1])])
  }

  @Test("a transfer that is not known to be resumable keeps its slot until it is")
  func unknown() {
    var queue = queue([0, 0], resumable: false)
    #expect(queue.handle(.jobsChanged, now: Self.now) == [])
    guard case .search(let search)? = queue.handle(.foundResumable(1, fence: 1), now: Self.now).first else {
      Issue.record("no search")
      return
    }
    #expect(queue.handle(.found([candidate(100, 5)], search, wakeTime: nil), now: Self.now) == [.cancel([1])])
    // Of an earlier claim.
    #expect(queue.handle(.foundResumable(2, fence: 0), now: Self.now) == [])
  }

  @Test("several waiting jobs stop as many transfers as they need, and no more")
  func several() {
    var queue = queue([0, 3, 1])
    #expect(add([5, 2, 1], to: &queue) == [.cancel([1, 3])])
  }

  @Test("a job is stopped at most once a minute; a look follows then")
  func minute() {
    var queue = queue([0])
    #expect(add([1], to: &queue) == [.cancel([1])])
    _ = queue.handle(.ended([1]), now: Self.now)
    // It gets its slot back.
    let claim = JobQueueEvent.Claim(job: 1, origin: Self.origin, fence: 2, priority: 0, isResumable: true)
    let actions = queue.handle(
      .turned(.init(ended: [.init(job: 1, origin: Self.origin)], claimed: [claim])), now: Self.now)
    #expect(find([1], after: actions, in: &queue, at: Self.now + 30) == [.wakeAt(Self.now + 60)])
    #expect(add([1], to: &queue, at: Self.now + 60) == [.cancel([1])])
  }

  @Test("no transfer is stopped for a job that could not start in its place")
  func useless() {
    // The origin is full without the victim, which is another origin's.
    let load = Admission.Load(claimed: 2, perOrigin: ["a": 1, "b": 1])
    let admission = Admission(maxActive: 2, maxPerOrigin: .fixed(1))
    let victim = Preemption.Victim(job: 1, priority: 0, origin: "a", batch: nil)
    func stops(_ candidates: [Candidate]) -> [JobID] {
      Preemption.stops(for: candidates, among: [victim], load: load, maxActive: 2) { candidate, load in
        load.perOrigin[candidate.origin, default: 0] < admission.bounded(10, of: candidate.origin)
      }
    }
    #expect(stops([candidate(9, 5, "b")]) == [])
    #expect(stops([candidate(9, 5, "a")]) == [1])
    #expect(stops([candidate(8, 5, "b"), candidate(9, 4, "c")]) == [1])
  }
}
