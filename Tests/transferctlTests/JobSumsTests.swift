import FoundationEssentials
import Testing
import TransferAPI

@testable import transferctl

@Suite struct JobSumsTests {
  private func sums(queued: Int = 0, completed: Int = 0, failed: Int = 0) -> WatchSums {
    var counts = StateCounts()
    (counts.queued, counts.completed, counts.failed) = (queued, completed, failed)
    return WatchSums(counts: counts)
  }

  @Test("failures and removed jobs make the wait fail")
  func failures() {
    var jobs = JobSums()
    jobs.read(sums(queued: 2))
    jobs.read(sums(completed: 2))
    #expect(!jobs.hasFailed)
    jobs.read(sums(completed: 1))
    #expect(jobs.hasFailed)
    var failed = JobSums()
    failed.read(sums(completed: 1, failed: 1))
    #expect(failed.hasFailed)
  }

  @Test("a failure is announced once if it is printed, and left to the end if not", arguments: [true, false])
  func announcements(isPrinted: Bool) {
    var jobs = JobSums()
    let words = jobs.take(sampleEvent(1, 7, to: .cancelled), isOfAll: false, isPrinted: isPrinted)
    #expect(words == (isPrinted ? "job 7 was cancelled" : nil))
    #expect(jobs.hasAnnounced(JobID(7)) == isPrinted)
    let other = jobs.take(sampleEvent(2, 8, to: .completed), isOfAll: false, isPrinted: isPrinted)
    #expect(other == nil)
    let removed = jobs.take(sampleEvent(3, 9, .removed, to: nil), isOfAll: true, isPrinted: isPrinted)
    #expect(removed == "job 9 was removed" && jobs.hasFailed)
  }
}
