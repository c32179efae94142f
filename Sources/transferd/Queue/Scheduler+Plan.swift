import FoundationEssentials
import Store
import TransferAPI

extension Scheduler {
  /// The waiting jobs in the order in which they are expected to begin, with the times.
  /// - Parameters:
  ///   - batch: only jobs of this batch; the others are taken into account.
  ///   - total: the number of waiting jobs in scope.
  func plan(batch: BatchID?, total: Int, in scope: Scope) async throws -> QueuePlan {
    let facts = try await store.planFacts(limit: PlanSimulation.maximumJobs)
    let now = Date()
    let (queue, localTime) = (queue, localTime)
    var observations = PlanSimulation.Observations(rates: facts.rates, typicalBytes: facts.typicalBytes)
    var running: [JobID: Double?] = [:]
    var rates: [String: [Double]] = [:]
    for progress in tracker.all(in: .everything) {
      guard let origin = queue.attempts[progress.job]?.origin, progress.bytesPerSecond > 0 else { continue }
      let rate = Double(progress.bytesPerSecond)
      rates[origin, default: []].append(rate)
      running[progress.job] = progress.bytesTotal.map { total in
        max(0, Double(total) - Double(progress.bytesDone)) / rate  // checked: floating point does not trap
      }
    }
    // What is measured now counts more than what was measured before.
    for (origin, rates) in rates {
      observations.rates[origin] = rates.reduce(0, +) / Double(rates.count)  // checked: floating point does not trap
    }
    let known = observations
    let transfers = running
    let expectations = await BlockingWork.run {
      var simulation = PlanSimulation(queue, facts, running: transfers, known, now: now, local: localTime)
      return simulation.run()
    }
    let shown = facts.jobs.filter { scope.includes($0.owner) && (batch == nil || $0.facts.batch == batch) }
    let entries = shown.compactMap { planned -> QueuePlan.Entry? in
      // It may have started meanwhile.
      guard let expectation = expectations[planned.job.id] else { return nil }
      var job = planned.job
      job.waiting = queue.waiting(job, planned.facts, now: now)
      return QueuePlan.Entry(job, start: expectation.start, end: expectation.end)
    }
    // Stable: jobs that begin together, or at an unknown time, keep the order of the queue.
    let order = entries.enumerated().sorted { one, other in
      let (first, second) = (one.element.start ?? .distantFuture, other.element.start ?? .distantFuture)
      return first == second ? one.offset < other.offset : first < second
    }
    return QueuePlan(jobs: order.map(\.element), more: max(0, total - shown.count))  // checked: counts of jobs
  }
}
