import FoundationEssentials
import Store
import TransferAPI
import WireValues

/// Why a waiting job does not start now. The same conditions that `pick` and the store's searches apply.
extension JobQueue {
  /// - Parameter job: a queued or retrying job; for others the result is `nil`.
  /// - Returns: `nil` for a job that starts with the next turn.
  func waiting(_ job: Job, _ facts: WaitFacts, now: Date) -> Waiting? {
    if let time = facts.waitsUntil, time > now {
      return Waiting(.notBefore, until: time, "it begins at its start time")
    }
    if let window = facts.window, let opening = closedWindows[window] {
      return Waiting(.window, until: opening, "its window \(window) is closed")
    }
    if facts.openDependencies > 0 { return waitingForOthers(facts) }
    if facts.isBlocked { return Waiting(.blockedBy, "an earlier upload to the same URL goes first") }
    if job.state == .retrying, let time = job.retryAt, time > now { return waitingForRetry(job, time, facts, now) }
    if let obstacle = obstacle(to: facts.origin, now: now) { return obstacle }
    if let batch = facts.batch, let limit = limits.admission.batches[batch], limits.admission.isFull(batch, load) {
      let running = load.perBatch[batch, default: 0]
      return Waiting(.batch, Self.full(running, " in the batch \(batch.name)", limit, "its maxActive"))
    }
    guard facts.runsAlone else { return nil }
    return Waiting(
      .slot, "it runs alone, because the daemon crashed twice while it ran, as soon as no other job can start")
  }

  private func waitingForOthers(_ facts: WaitFacts) -> Waiting {
    let first =
      switch facts.firstDependency {
      case .job(let id)?: "job \(id)"
      case .batch(let name)?: "batch \(name)"
      case nil: "another job"
      }
    let more = facts.openDependencies > 1 ? " and \(facts.openDependencies - 1) more" : ""
    return Waiting(.after, "it begins after \(first)\(more)")
  }

  private func waitingForRetry(_ job: Job, _ time: Date, _ facts: WaitFacts, _ now: Date) -> Waiting {
    if job.kind == .relay, let error = job.error, error.code == .diskFull {
      return Waiting(.disk, until: time, "\(error.message); it looks for room again then, or when there is some")
    }
    if job.error?.code == .diskFull {
      return Waiting(.disk, until: time, "there was too little space on the disk; it looks for free space again then")
    }
    if let error = job.error, error.code == .network {
      return Waiting(.network, until: time, "\(error.message); it looks for it again then, or when the network changes")
    }
    if let opening = governor.reopenTime(of: facts.origin, after: now), opening > time {
      return closed(facts.origin, until: opening)
    }
    let reason = job.error.map { "the last attempt failed (\($0.code))" } ?? "the last attempt failed"
    let limit = job.limitsAttempts ? " of \(job.maxAttempts)" : ""
    return Waiting(.retry, until: time, "\(reason); attempt \(job.attempt.saturatingSum(1))\(limit) follows")
  }

  /// What keeps every job of an origin from starting; `nil`: nothing.
  private func obstacle(to origin: String, now: Date) -> Waiting? {
    if let time = searchesAgainAt, time > now {
      return Waiting(.disk, until: time, "the daemon's database cannot be used; it is tried again then")
    }
    if !isStarted { return Waiting(.slot, "the daemon is starting") }
    if isStopping { return Waiting(.slot, "the daemon is stopping") }
    if isolated != nil {
      return Waiting(.slot, "another job runs alone, because the daemon crashed twice while it ran")
    }
    if let time = quotaEnds, time > now {
      return Waiting(.limit, until: time, "the day's quota of bytes is used up; the next day begins then")
    }
    let admission = limits.admission
    guard load.total < admission.maxActive else {
      return Waiting(.slot, Self.full(load.total, "", admission.maxActive, "maxActive"))
    }
    guard finishing < limits.maximumFinishing else {
      return Waiting(.slot, "\(finishing) files are being verified and synced to disk")
    }
    if let time = governor.reopenTime(of: origin, after: now) { return closed(origin, until: time) }
    if let time = pacedUntil(origin, now: now) {
      return Waiting(.origin, until: time, "a transfer with \(origin) began less than its interval ago")
    }
    let running = load.perOrigin[origin, default: 0]
    let limit = admission.bounded(capacityRule(now: now)(origin), of: origin)
    guard running >= limit else { return nil }
    if governor.capacity(of: origin, now: now) == 1 {
      return Waiting(.origin, "\(origin) cannot be reached: one job at a time tries")
    }
    let setting = admission.origins.rule(for: origin)?.maxActive == nil ? "maxPerOrigin" : "maxActive in origins"
    return Waiting(.origin, Self.full(running, " with \(origin)", limit, setting))
  }

  private func closed(_ origin: String, until time: Date) -> Waiting {
    let isBlock = governor.origins[origin]?.blockedUntil.map { $0 >= time } ?? false
    let reason = isBlock ? "has asked for a pause (Retry-After)" : "cannot be reached; it is tried again then"
    return Waiting(.origin, until: time, "\(origin) \(reason)")
  }

  /// Which limit is reached. More may run than it allows, because it was lowered and stops no transfer.
  /// - Parameters:
  ///   - place: with a blank before it; empty for the whole daemon.
  ///   - setting: the limit's name.
  private static func full(_ running: Int, _ place: String, _ limit: Int, _ setting: String) -> String {
    let text = (running == 1 ? "1 transfer runs" : "\(running) transfers run") + place
    guard running > limit else { return "\(text), as many as \(setting) allows" }
    // checked: running is the larger one
    return "\(text); \(setting) allows \(limit), so \(running - limit + 1) have to end first"
  }
}
