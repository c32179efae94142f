import Store
import TransferAPI

/// Waiting jobs in the order in which they may begin, kept so that a look costs by what is free and not by what waits:
/// with every turn of a full daemon somebody looks.
struct CandidateWindow {
  private(set) var candidates: [Candidate] = []
  /// How many there are of each origin.
  private var counts: [String: Int] = [:]

  init(_ candidates: [Candidate] = []) { add(candidates) }

  /// Takes its place by priority, then by id.
  mutating func add(_ more: [Candidate]) {
    for candidate in more { counts[candidate.origin, default: 0] += 1 }
    candidates = (candidates + more).sorted { ($1.priority, $0.id) < ($0.priority, $1.id) }
  }

  func ids(of origin: String) -> [JobID] {
    counts[origin] == nil ? [] : candidates.lazy.filter { $0.origin == origin }.map(\.id)
  }

  /// Takes out, in order, what `verdict` says, and ends as soon as nothing is left that could be taken.
  /// - Parameter full: origins of which nothing is to be taken; not asked about.
  mutating func take(_ full: Set<String>, _ verdict: (Candidate) -> Verdict) -> [Candidate] {
    var full = full
    var left = candidates.count - full.reduce(0) { $0 + (counts[$1] ?? 0) }
    var taken: [Candidate] = []
    var index = 0
    while left > 0, index < candidates.count {
      let candidate = candidates[index]
      guard !full.contains(candidate.origin) else {
        index += 1
        continue
      }
      switch verdict(candidate) {
      case .take:
        candidates.remove(at: index)
        let count = (counts[candidate.origin] ?? 1) - 1
        counts[candidate.origin] = count > 0 ? count : nil
        taken.append(candidate)
        left -= 1
      case .leave:
        index += 1
        left -= 1
      case .originIsFull:
        left -= unseen(of: candidate.origin, from: index)
        full.insert(candidate.origin)
        index += 1
      case .end:
        return taken
      }
    }
    return taken
  }

  enum Verdict { case take, leave, originIsFull, end }

  private func unseen(of origin: String, from index: Int) -> Int {
    guard counts.count > 1 else { return candidates.count - index }
    return candidates[index...].reduce(0) { $0 + ($1.origin == origin ? 1 : 0) }
  }
}
