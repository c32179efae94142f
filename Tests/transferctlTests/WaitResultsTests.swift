import FoundationEssentials
import Testing
import TransferAPI

@testable import transferctl

/// The last line of a wait.
@Suite struct WaitResultsTests {
  private func event(_ job: Int64, _ state: JobState, _ result: JobResult? = nil) -> Event {
    Event(
      seq: job, job: JobID(job), at: Date(timeIntervalSince1970: 0), kind: .state, from: .running, to: state,
      result: result)
  }

  @Test("it has the same words for every number")
  func line() {
    #expect(WaitResults().line == "0 jobs: 0 transferred, 0 unchanged, 0 skipped, 0 failed")
    let results = WaitResults(completed: JobResults(completed: 9999, unchanged: 9996, skipped: 0), failed: 1)
    #expect(results.line == "10000 jobs: 3 transferred, 9996 unchanged, 0 skipped, 1 failed")
    #expect(
      WaitResults(completed: JobResults(completed: 1, unchanged: 0, skipped: 0), failed: 0).line
        == "1 jobs: 1 transferred, 0 unchanged, 0 skipped, 0 failed")
  }

  @Test("it counts what events and listings say, and every job that did not complete as failed")
  func tracker() {
    var tracker = JobTracker()
    for id in 1...6 { tracker.begin(JobID(Int64(id))) }
    tracker.apply(event(1, .completed))
    tracker.apply(event(2, .completed, .unchanged))
    tracker.apply(event(3, .completed, .skipped))
    tracker.apply(event(4, .failed))
    tracker.apply(event(5, .cancelled))
    tracker.remove(JobID(6))
    var listed = Job(
      id: JobID(7), kind: .download, state: .completed, source: "https://h/a", destination: "/a", maxAttempts: 1,
      createdAt: Date(timeIntervalSince1970: 0))
    listed.result = .unchanged
    tracker.read(listed)
    #expect(tracker.isSettled)
    #expect(tracker.results.line == "7 jobs: 1 transferred, 2 unchanged, 1 skipped, 3 failed")
    #expect(JobTracker.words(of: listed) == "job 7 completed: a (unchanged)")
  }

  @Test("sums count removed jobs as failed, and an earlier daemon's completed jobs as transferred")
  func sums() {
    var sums = JobSums()
    var counts = StateCounts()
    (counts.completed, counts.failed, counts.cancelled, counts.running) = (5, 1, 2, 1)
    sums.read(WatchSums(counts: counts, results: JobResults(completed: 5, unchanged: 3, skipped: 1)))
    counts.running = 0
    sums.read(WatchSums(counts: counts, results: JobResults(completed: 5, unchanged: 3, skipped: 1)))
    #expect(sums.results.line == "9 jobs: 1 transferred, 3 unchanged, 1 skipped, 4 failed")
    sums.read(WatchSums(counts: counts))
    #expect(sums.results.completed == JobResults(completed: 5, unchanged: 0, skipped: 0))
  }
}
