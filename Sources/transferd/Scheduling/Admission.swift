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
      total += 1
      perOrigin[origin, default: 0] += 1
    }

    mutating func remove(_ origin: String) {
      total -= 1
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
    from window: inout [Candidate], load: Load, capacity: (String) -> Int, lastProbes: [String: JobID] = [:]
  ) -> [JobID] {
    var load = load
    let turns = lastProbes.reduce(into: [String: JobID]()) { turns, probe in
      let ids = window.lazy.filter { $0.origin == probe.key }.map(\.id)
      turns[probe.key] = ids.filter { $0 > probe.value }.min() ?? ids.min()
    }
    var picked: [JobID] = []
    window.removeAll { candidate in
      guard load.total < maxActive else { return false }
      if let turn = turns[candidate.origin], turn != candidate.id { return false }
      let limit = min(maxPerOrigin, capacity(candidate.origin))
      guard load.perOrigin[candidate.origin, default: 0] < limit else { return false }
      load.add(candidate.origin)
      picked.append(candidate.id)
      return true
    }
    return picked
  }

  /// Origins that can take no more.
  func saturated(_ load: Load, capacity: (String) -> Int) -> Set<String> {
    Set(load.perOrigin.filter { $0.value >= min(maxPerOrigin, capacity($0.key)) }.keys)
  }
}
