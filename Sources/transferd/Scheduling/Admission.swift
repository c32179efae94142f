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
  /// - Parameter capacity: the most an origin may have now; what the governor allows.
  func pick(
    from window: inout [Candidate], load: Load, capacity: (String) -> Int
  ) -> [JobID] {
    var load = load
    var picked: [JobID] = []
    window.removeAll { candidate in
      guard load.total < maxActive else { return false }
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
