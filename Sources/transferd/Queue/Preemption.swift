import FoundationEssentials
import Store
import TransferAPI

/// Decides which running transfers give their slots to waiting jobs of higher priority. Pure.
///
/// Only transfers that are known to continue where they are stopped, and each at most once a minute: a stop costs a new request,
/// and the bytes since the last checkpoint are synced first.
struct Preemption: Equatable, Sendable {
  /// A running transfer that may give up its slot.
  struct Victim: Equatable, Sendable {
    let job: JobID
    let priority: Int
    let origin: String
    let batch: BatchID?
  }

  /// Seconds for which a job that has given up a slot is not stopped again.
  static let interval: TimeInterval = 60

  /// When jobs gave up their slots, in the last minute.
  private(set) var times: [JobID: Date] = [:]

  /// Whether the job may give up a slot now.
  func allows(_ job: JobID, now: Date) -> Bool { times[job].map { !isRecent($0, now) } ?? true }

  /// When the first job that gave up a slot may do so again; `nil`: none is waited for.
  func next(among jobs: some Sequence<JobID>, now: Date) -> Date? {
    jobs.compactMap { times[$0] }.filter { isRecent($0, now) }.map { $0.addingTimeInterval(Self.interval) }.min()
  }

  mutating func record(_ jobs: [JobID], now: Date) {
    times = times.filter { isRecent($0.value, now) }
    for job in jobs { times[job] = now }
  }

  /// A clock that was set back does not prolong the interval.
  private func isRecent(_ time: Date, _ now: Date) -> Bool {
    time <= now && now.timeIntervalSince(time) < Self.interval
  }

  /// - Parameters:
  ///   - candidates: waiting jobs in the order in which they start.
  ///   - victims: running transfers that may be stopped.
  ///   - load: without the transfers that give up their slots already.
  ///   - mayStart: whether a job may start beside a load.
  /// - Returns: the transfers to stop: for each waiting job that gets its slot, the one with the lowest priority, and of these the
  ///   one that was added last.
  static func stops(
    for candidates: [Candidate], among victims: [Victim], load: Admission.Load, maxActive: Int,
    mayStart: (Candidate, Admission.Load) -> Bool
  ) -> [JobID] {
    var victims = victims.sorted { ($0.priority, $1.job) < ($1.priority, $0.job) }
    var load = load
    var stopped: [JobID] = []
    for candidate in candidates {
      // They are in the order of their priorities.
      guard let victim = victims.first, victim.priority < candidate.priority else { break }
      guard load.total >= maxActive else {
        // A slot is being freed already.
        if mayStart(candidate, load) { load.add(candidate.origin, candidate.batch) }
        continue
      }
      var freed = load
      freed.remove(victim.origin, victim.batch)
      guard freed.total < maxActive, mayStart(candidate, freed) else { continue }
      freed.add(candidate.origin, candidate.batch)
      load = freed
      stopped.append(victim.job)
      victims.removeFirst()
    }
    return stopped
  }
}
