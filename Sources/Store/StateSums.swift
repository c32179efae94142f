import GRDB
import TransferAPI

/// How a transaction changes the sums in `state_count` and `batch`. They are collected here and written once, before the
/// commit: `jobs + 32` in place of 32 times `jobs + 1`.
struct StateSums {
  /// What one job adds to the sums.
  struct Share {
    var state: JobState
    var bytesDone: Int64 = 0
    /// `nil` while unknown.
    var bytesTotal: Int64?
    /// Of a completed job; `nil` stands for `transferred`.
    var result: JobResult?
  }

  /// The change of the sums of one batch, or of all jobs of one owner.
  struct Change: Equatable {
    /// Negative numbers where jobs left a state.
    var jobs = StateCounts()
    /// Completed jobs by a result that is not `transferred`.
    var results = JobResults()
    /// Double as in the table: sizes that servers claim may overflow. Exact below 9 PB.
    var bytesDone = 0.0
    var bytesTotal = 0.0

    fileprivate mutating func add(_ share: Share, _ sign: Double) {
      bytesDone += sign * Double(share.bytesDone)  // checked: floating point does not trap
      bytesTotal += sign * Double(share.bytesTotal ?? 0)  // checked: floating point does not trap
    }
  }

  /// By batch; the empty name stands for all jobs of the owner.
  private(set) var changes: [BatchID: Change] = [:]

  /// A job changes.
  /// - Parameters:
  ///   - old: `nil`: it was added.
  ///   - new: `nil`: it was removed.
  mutating func replace(_ old: Share?, by new: Share?, owner: UInt32, batch: String?) {
    let all = BatchID(owner: owner, name: "")
    if old?.state != new?.state { move(old?.state, new?.state, 1, all) }
    if old?.result != new?.result { count(old?.result, new?.result, all) }
    guard let batch else { return }
    let id = BatchID(owner: owner, name: batch)
    if old?.state != new?.state { move(old?.state, new?.state, 1, id) }
    if old?.result != new?.result { count(old?.result, new?.result, id) }
    guard old?.bytesDone ?? 0 != new?.bytesDone ?? 0 || old?.bytesTotal ?? 0 != new?.bytesTotal ?? 0 else { return }
    if let old { changes[id, default: Change()].add(old, -1) }
    if let new { changes[id, default: Change()].add(new, 1) }
  }

  /// Several jobs change their state, but not their bytes.
  /// - Parameter id: the empty name stands for all jobs of the owner.
  mutating func move(_ old: JobState?, _ new: JobState?, _ count: Int, _ id: BatchID) {
    if let old { changes[id, default: Change()].jobs[old] -= count }
    if let new { changes[id, default: Change()].jobs[new] += count }
  }

  private mutating func count(_ old: JobResult?, _ new: JobResult?, _ id: BatchID) {
    if let old { changes[id, default: Change()].results[old] -= 1 }
    if let new { changes[id, default: Change()].results[new] += 1 }
  }
}

extension Transaction {
  /// Writes the collected changes.
  mutating func writeSums() throws {
    for (id, change) in sums.changes {
      for state in JobState.allCases where change.jobs[state] != 0 { try add(change.jobs[state], to: state, of: id) }
      for result in [JobResult.unchanged, .skipped] where change.results[result] != 0 {
        try add(change.results[result], to: result, of: id)
      }
      guard change.bytesDone != 0 || change.bytesTotal != 0 else { continue }
      try run(
        """
        UPDATE batch SET bytes_done = bytes_done + :bytes_done, bytes_total = bytes_total + :bytes_total
        WHERE name = :batch AND owner = :owner
        """
      ) { bind in
        bind("bytes_done", change.bytesDone)
        bind("bytes_total", change.bytesTotal)
        bind.batch(id)
      }
    }
    try noteBatchEnds(sums.changes)
    sums = StateSums()
  }

  private func add(_ jobs: Int, to result: JobResult, of id: BatchID) throws {
    try run(
      """
      INSERT INTO result_count (batch, owner, result, jobs) VALUES (:batch, :owner, :result, 0)
      ON CONFLICT (batch, owner, result) DO NOTHING
      """
    ) { bind in
      bind.batch(id)
      bind("result", result.rawValue)
    }
    try run(
      "UPDATE result_count SET jobs = jobs + :jobs WHERE batch = :batch AND owner = :owner AND result = :result"
    ) { bind in
      bind("jobs", jobs)
      bind.batch(id)
      bind("result", result.rawValue)
    }
  }

  private func add(_ jobs: Int, to state: JobState, of id: BatchID) throws {
    try run(
      "UPDATE state_count SET jobs = jobs + :jobs WHERE batch = :batch AND owner = :owner AND state = :state"
    ) { bind in
      bind("jobs", jobs)
      bind.batch(id)
      bind("state", state.rawValue)
    }
    // The rows of a batch come with the batch, those of an owner with the owner's first job in a state.
    guard db.changesCount == 0, jobs > 0 else { return }
    try run("INSERT INTO state_count (batch, owner, state, jobs) VALUES (:batch, :owner, :state, :jobs)") { bind in
      bind.batch(id)
      bind("state", state.rawValue)
      bind("jobs", jobs)
    }
  }
}
