import FoundationEssentials
import Store
import TransferAPI

/// Slots for jobs of higher priority while the daemon is full.
extension JobQueue {
  /// Whether a transfer may be stopped for another one. Without such a transfer nothing is searched.
  var mayPreempt: Bool {
    isolated == nil && !isStopping && searchesAgainAt == nil && attempts.values.contains { isStoppable($0) }
  }

  /// The load without the transfers that may be stopped.
  var loadWithoutStoppable: Admission.Load {
    var load = load
    for attempt in attempts.values where isStoppable(attempt) { load.remove(attempt.origin, attempt.batch) }
    return load
  }

  /// The transfers to stop, because waiting jobs of higher priority take their slots.
  mutating func takeSlots(
    _ capacity: (String) -> Int, now: Date, _ actions: inout [JobQueueAction]
  ) -> [JobID] {
    // The candidates are in the order of their priorities.
    guard let best = window.candidates.first?.priority, attempts.values.contains(where: { $0.priority < best }) else {
      return []
    }
    let resumable = attempts.filter { isStoppable($0.value) }
    let allowed = resumable.filter { preemption.allows($0.key, now: now) }
    let stopped = stops(allowed, capacity)
    preemption.record(stopped, now: now)
    if stopped.isEmpty, allowed.count < resumable.count, !stops(resumable, capacity).isEmpty,
      let next = preemption.next(among: resumable.keys, now: now)
    {
      actions.append(.wakeAt(next))
    }
    return stopped
  }

  func isStoppable(_ attempt: Attempt) -> Bool {
    attempt.phase == .transferring && attempt.stop == nil && attempt.isResumable
  }

  private func stops(_ attempts: [JobID: Attempt], _ capacity: (String) -> Int) -> [JobID] {
    let victims = attempts.map { id, attempt in
      Preemption.Victim(job: id, priority: attempt.priority, origin: attempt.origin, batch: attempt.batch)
    }
    // Without the transfers that are being stopped already.
    var load = load
    for attempt in self.attempts.values where attempt.phase == .transferring && attempt.stop != nil {
      load.remove(attempt.origin, attempt.batch)
    }
    let admission = limits.admission
    return Preemption.stops(
      for: window.candidates, among: victims, load: load, maxActive: admission.maxActive
    ) { candidate, load in
      !admission.isFull(candidate.batch, load)
        && load.perOrigin[candidate.origin, default: 0]
          < admission.bounded(capacity(candidate.origin), of: candidate.origin)
    }
  }
}
