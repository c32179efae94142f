import Store
import TransferAPI

/// Waiting jobs in the order in which they may start. The cost of a search grows with the free slots, not with the queue's
/// length, because a busy daemon searches at the end of every attempt.
struct CandidateWindow {
  private(set) var candidates: [Candidate] = []
  /// The number of candidates for each origin.
  private var counts: [String: Int] = [:]

  init(_ candidates: [Candidate] = []) { add(candidates) }

  /// Inserts candidates, ordered by priority. Those of one priority take turns: first the batch with the fewest transfers. The jobs
  /// of a batch are ordered by id.
  /// - Parameter running: the number of running transfers of each share.
  mutating func add(_ more: [Candidate], running: [BatchID: Int] = [:]) {
    for candidate in more { counts[candidate.origin, default: 0] += 1 }
    candidates = (candidates + more).sorted { ($1.priority, $0.id) < ($0.priority, $1.id) }
    guard let first = candidates.first, candidates.contains(where: { $0.share != first.share }) else { return }
    // How many transfers of its share there are when it is its turn.
    var turns = running
    let ranked = candidates.map { candidate in
      let rank = turns[candidate.share, default: 0]
      turns[candidate.share] = rank + 1  // checked: counts jobs
      return (candidate: candidate, rank: rank)
    }
    candidates = ranked.sorted {
      ($1.candidate.priority, $0.rank, $0.candidate.id) < ($0.candidate.priority, $1.rank, $1.candidate.id)
    }.map(\.candidate)
  }

  func ids(of origin: String) -> [JobID] {
    counts[origin] == nil ? [] : candidates.lazy.filter { $0.origin == origin }.map(\.id)
  }

  /// Removes and returns, in order, the candidates that `verdict` selects. It stops as soon as no other candidate can be
  /// selected.
  /// - Parameter full: origins to skip without calling `verdict`.
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
      case .skip:
        index += 1
        left -= 1
      case .originIsFull:
        left -= remaining(of: candidate.origin, from: index)
        full.insert(candidate.origin)
        index += 1
      case .stop:
        return taken
      }
    }
    return taken
  }

  enum Verdict {
    case take
    case skip
    /// Skip this candidate and all others of its origin.
    case originIsFull
    /// Take no more candidates.
    case stop
  }

  /// The number of candidates of an origin from the index on.
  private func remaining(of origin: String, from index: Int) -> Int {
    guard counts.count > 1 else { return candidates.count - index }
    return candidates[index...].reduce(0) { $0 + ($1.origin == origin ? 1 : 0) }
  }
}
