import FoundationEssentials
import Store
import TransferAPI

extension Scheduler {
  /// A job as clients see it now: with the live numbers of its attempt, or why it waits.
  func shown(_ record: JobRecord) -> Job {
    var job = tracker.overlay(record.job)
    if let facts = record.waitFacts { job.waiting = queue.waiting(job, facts, now: Date()) }
    return job
  }
}
