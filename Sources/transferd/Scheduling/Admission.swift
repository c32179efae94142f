import Store
import TransferAPI

/// Which of the waiting jobs may begin now. Pure.
struct Admission: Equatable, Sendable {
  /// Transfers at once.
  var maxActive: Int
  /// Transfers at once with one origin.
  var maxPerOrigin: Int

  /// What is under way.
  struct Load: Equatable, Sendable {
    var total = 0
    var perOrigin: [String: Int] = [:]

    mutating func add(_ origin: String) {
      total += 1  // checked: counts jobs that run
      perOrigin[origin, default: 0] += 1
    }

    mutating func remove(_ origin: String) {
      total -= 1  // checked: counts jobs that run
      guard let count = perOrigin[origin] else { return }
      perOrigin[origin] = count > 1 ? count - 1 : nil
    }
  }

  /// Takes from the window, in its order, what fits, and leaves the rest.
  /// - Parameters:
  ///   - capacity: the most an origin may have now; what the governor allows.
  ///   - lastProbes: of each origin that is only probed, the job that has done so last. The next one by id does it now: in
  ///     an outage the tries of all are spent evenly, not those of the first few.
  func pick(
    from window: inout CandidateWindow, load: Load, capacity: (String) -> Int, lastProbes: [String: JobID] = [:]
  ) -> [JobID] {
    guard load.total < maxActive else { return [] }
    var load = load
    let turns = lastProbes.reduce(into: [String: JobID]()) { turns, probe in
      let ids = window.ids(of: probe.key)
      turns[probe.key] = ids.filter { $0 > probe.value }.min() ?? ids.min()
    }
    let picked = window.take(saturated(load, capacity: capacity)) { candidate in
      guard load.total < maxActive else { return .end }
      if let turn = turns[candidate.origin], turn != candidate.id { return .leave }
      let limit = min(maxPerOrigin, capacity(candidate.origin))
      guard load.perOrigin[candidate.origin, default: 0] < limit else { return .originIsFull }
      load.add(candidate.origin)
      return .take
    }
    return picked.map(\.id)
  }

  /// The job that begins although it must run alone: the first one, once nothing runs. To be asked only when no other job can
  /// begin now. Others may be waiting all the same, for their time or for their server: they keep no job from running alone.
  /// - Parameter running: attempts under way, those that only verify and name their files included.
  static func pickAlone(from candidates: [Candidate], running: Int) -> JobID? {
    running == 0 ? candidates.first?.id : nil
  }

  /// How long a job keeps all others waiting while it runs alone: 10 minutes, and twice as long for each further mark. A large
  /// file must not stop everything for hours, and a job that crashes the daemon late does so ever more rarely.
  static func trial(marks: Int) -> Duration {
    .seconds(600 << min(max(0, marks - JobRecord.marksToRunAlone), 7))
  }

  /// Origins that can take no more.
  func saturated(_ load: Load, capacity: (String) -> Int) -> Set<String> {
    Set(load.perOrigin.filter { $0.value >= min(maxPerOrigin, capacity($0.key)) }.keys)
  }
}
