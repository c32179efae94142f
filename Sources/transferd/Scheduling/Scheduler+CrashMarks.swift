import FoundationEssentials
import Store
import Threads
import TransferAPI

/// Jobs that ran when the daemon crashed, more than once: each of them runs alone.
extension Scheduler {
  /// After a restart: whether there are any.
  func readCrashMarks() async throws {
    mayRunAlone = try await store.hasJobsToRunAlone()
  }

  /// The job that begins alone, where no other one can begin.
  func pickAlone() async throws -> [JobID] {
    guard mayRunAlone, active.isEmpty, !isStopping else { return [] }
    let now = Date()
    let candidates = try await store.candidatesToRunAlone(
      now: now, excludingOrigins: Set(governor.openings(after: now).keys), limit: 1)
    if candidates.isEmpty { mayRunAlone = try await store.hasJobsToRunAlone() }
    // What came meanwhile goes first.
    guard !isWindowStale, !isStopping else { return [] }
    return Admission.pickAlone(from: candidates, running: active.count).map { [$0] } ?? []
  }

  /// Nothing else begins while the job runs, until it ends or is cleared of suspicion.
  func beginAlone(_ record: JobRecord) {
    let id = record.job.id
    alone = Alone(job: id, fence: record.fence)
    logger.notice(
      "a job that ran when the daemon crashed runs alone",
      metadata: ["job": "\(id)", "crashes": "\(record.crashMarks)"])
    let trial = Admission.trial(marks: record.crashMarks)
    Task {
      try? await Task.pause(for: trial)
      await self.endTrial(Alone(job: id, fence: record.fence))
    }
  }

  /// The job has run alone for long enough: others may begin beside it. Its marks stay until its attempt ends by itself.
  private func endTrial(_ trial: Alone) async {
    guard alone == trial, !isStopping else { return }
    alone = nil
    logger.notice("a job that ran alone keeps the others waiting no longer", metadata: ["job": "\(trial.job)"])
    await wake()
  }

  /// The attempt that has nothing beside it.
  struct Alone: Equatable, Sendable {
    let job: JobID
    let fence: Int64
  }
}
