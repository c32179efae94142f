public import FoundationEssentials
import GRDB
public import TransferAPI
import WireValues

extension Store {
  /// Number of jobs that one transaction changes: other calls wait for some 30 ms at most.
  static let verbStep = 2000

  /// Applies a verb to all selected jobs that it can change by their rows alone, with a few statements for thousands of them.
  /// Each job gets the event that `transition` or `remove` leaves.
  ///
  /// Durable when this returns. If the daemon crashes before that, some of the jobs are changed, each of them
  /// completely. Jobs that are added meanwhile are left out.
  /// - Parameter selection: a batch, a state or all; ids are returned as `others`.
  /// - Returns: the number of changed jobs, and the jobs that the caller has to treat one by one.
  public func apply(
    _ verb: JobVerb, toAll selection: JobSelection, in scope: Scope, at now: Date, reason: String? = nil
  ) async throws(StoreError) -> GroupVerbOutcome {
    var outcome = GroupVerbOutcome()
    if case .ids(let ids) = selection {
      outcome.others = ids
      return outcome
    }
    let target = try await read { db in try VerbTarget(db, verb, selection, in: scope) }
    var marked = 0
    var position: VerbTarget.Position? = VerbTarget.Position()
    while let start = position {
      let step = try await queue.run(weight: Self.verbStep) { transaction in
        try transaction.perform(target, from: start, at: now, reason: reason)
      }
      outcome.changed += step.changed
      outcome.others += step.others
      marked += step.marked
      position = step.next
    }
    outcome.others.sort()
    let untouched = try await read { db in try target.untouchedCount(db) }
    outcome.skipped = max(0, untouched - marked - (target.countsChanged ? outcome.changed : 0))
    return outcome
  }
}

/// The jobs that a verb on many jobs is for.
private struct VerbTarget: Sendable {
  /// The jobs of an owner, or of one of the owner's batches.
  struct Range: Sendable {
    let owner: UInt32
    let batch: String?
  }

  /// Where the next step begins.
  struct Position: Sendable {
    /// An index of `ranges`.
    var range = 0
    /// An index of `states`.
    var state = 0
    var after: Int64 = 0
  }

  let group: GroupVerb
  let ranges: [Range]
  /// The selected states that the verb changes.
  let states: [JobState]
  /// The selected states that the verb does not change.
  let untouched: [JobState]
  let includesRunning: Bool
  /// The last job that was there at the beginning.
  let last: Int64
  /// Whether changed jobs get one of the `untouched` states.
  let countsChanged: Bool

  init(_ db: Database, _ verb: JobVerb, _ selection: JobSelection, in scope: Scope) throws {
    let group = GroupVerb(verb: verb)
    self.group = group
    var selected = JobState.allCases
    switch (selection, scope) {
    case (.batch(let batch), _):
      ranges = scope.includes(batch.owner) ? [Range(owner: batch.owner, batch: batch.name)] : []
    case (.ids, _): ranges = []
    case (.state, .owner(let uid)), (.all, .owner(let uid)): ranges = [Range(owner: uid, batch: nil)]
    case (.state, .everything), (.all, .everything):
      ranges = try db.jobOwners().map { Range(owner: $0, batch: nil) }
    }
    if case .state(let state) = selection { selected = [state] }
    states = group.states.filter(selected.contains)
    includesRunning = group.stopsAttempts && selected.contains(.running)
    untouched = selected.filter { state in
      !group.states.contains(state) && !(state == .running && group.stopsAttempts)
    }
    countsChanged = group.newState.map(untouched.contains) ?? false
    last = try db.lastID(in: "job")
  }

  /// The number of jobs in the states that the verb leaves as they are.
  func untouchedCount(_ db: Database) throws -> Int {
    var count = 0
    for range in ranges {
      let find = try PreparedStatement(db, GroupVerb.count(inBatch: range.batch != nil))
      for state in untouched {
        count +=
          try find.row { bind in
            range.bind(&bind, state)
          } read: {
            try $0.int("jobs")
          } ?? 0
      }
    }
    return count
  }
}

extension VerbTarget.Range {
  func bind(_ bind: inout ParameterBinder, _ state: JobState) {
    if let batch { bind("batch", batch) }
    bind("owner", owner)
    bind("state", state.rawValue)
  }
}

/// What one transaction has done.
private struct VerbStep: Sendable {
  var changed = 0
  /// The jobs that are left. Only the last step knows them.
  var others: [JobID] = []
  /// The number of jobs among `others` whose state the verb does not change.
  var marked = 0
  /// `nil`: this was the last step.
  var next: VerbTarget.Position?
}

/// A job that a verb changes.
private struct VerbRow {
  let id: Int64
  let batch: String?
  let bytesDone: Int64
  let bytesTotal: Int64?
  let result: JobResult?

  init(_ row: inout RowReader) throws {
    id = try row.int64("id")
    batch = try row.optionalText("batch")
    bytesDone = try row.int64("bytes_done")
    bytesTotal = try row.optionalInt64("bytes_total")
    result = try row.optionalWord("result")
  }

  func share(_ state: JobState) -> StateSums.Share {
    .init(state: state, bytesDone: bytesDone, bytesTotal: bytesTotal, result: result)
  }
}

extension Transaction {
  /// Changes up to `Store.verbStep` jobs, and finds the next position.
  ///
  /// Jobs change their states while others run between the steps. So the last step starts from the beginning. In one
  /// transaction it checks that no plain job is left, and finds the jobs that the caller has to handle. No job can
  /// change its state unnoticed in between.
  fileprivate mutating func perform(
    _ target: VerbTarget, from start: VerbTarget.Position, at now: Date, reason: String?
  ) throws -> VerbStep {
    var step = VerbStep()
    var position = start
    try advance(&position, target, &step, at: now, reason: reason)
    if position.range == target.ranges.count {
      position = VerbTarget.Position()
      try advance(&position, target, &step, at: now, reason: reason)
    }
    guard position.range == target.ranges.count else {
      step.next = position
      return step
    }
    for range in target.ranges {
      for state in target.states { step.others += try others(target, range, state) }
      if target.includesRunning { step.others += try others(target, range, .running) }
      guard target.group.verb == .retry, target.untouched.contains(.queued) else { continue }
      let marked = try others(target, range, .queued)
      step.marked += marked.count
      step.others += marked
    }
    return step
  }

  private mutating func advance(
    _ position: inout VerbTarget.Position, _ target: VerbTarget, _ step: inout VerbStep, at now: Date, reason: String?
  ) throws {
    while position.range < target.ranges.count {
      let range = target.ranges[position.range]
      guard position.state < target.states.count else {
        position = VerbTarget.Position(range: position.range + 1)
        continue
      }
      let limit = Store.verbStep - step.changed
      guard limit > 0 else { return }
      let state = target.states[position.state]
      let rows = try db.rows(target.group.rows(inBatch: range.batch != nil)) { bind in
        range.bind(&bind, state)
        bind("after", position.after)
        bind("last", target.last)
        bind("limit", limit)
      } read: {
        try VerbRow(&$0)
      }
      step.changed += try change(rows, in: state, target.group, range.owner, at: now, reason: reason)
      if rows.count < limit {
        position.state += 1
        position.after = 0
      } else {
        position.after = rows.last?.id ?? 0
      }
    }
  }

  private func others(_ target: VerbTarget, _ range: VerbTarget.Range, _ state: JobState) throws -> [JobID] {
    try db.rows(target.group.others(inBatch: range.batch != nil, state: state)) { bind in
      range.bind(&bind, state)
      bind("last", target.last)
    } read: {
      try $0.jobID("id")
    }
  }

  /// - Returns: the number of changed jobs.
  private mutating func change(
    _ rows: [VerbRow], in state: JobState, _ group: GroupVerb, _ owner: UInt32, at now: Date, reason: String?
  ) throws -> Int {
    guard !rows.isEmpty else { return 0 }
    var rows = rows
    var ids = jsonArray(rows.map(\.id))
    let error = group.verb == .cancel ? JobFailure.cancelled(reason) : nil
    if group.verb == .remove {
      try run("DELETE FROM file_action WHERE next_at IS NULL AND job IN (SELECT value FROM json_each(:ids))") {
        $0("ids", ids)
      }
    }
    try db.run(group.change) { bind in
      if group.verb == .cancel || group.verb == .retry { bind("now", now) }
      if group.verb == .cancel { bind.failure(error) }
      bind("ids", ids)
    }
    if db.changesCount < rows.count {
      let changed = Set(
        try db.rows(GroupVerb.queuedAmong) {
          $0("ids", ids)
        } read: {
          try $0.int64("id")
        })
      rows.removeAll { !changed.contains($0.id) }
      ids = jsonArray(rows.map(\.id))
    }
    for row in rows {
      sums.replace(row.share(state), by: group.newState.map(row.share), owner: owner, batch: row.batch)
    }
    try note(rows.map { JobID($0.id) }, group, of: owner, at: now, from: state, reason: reason, error: error)
    return rows.count
  }

  /// Appends an event for each of these jobs.
  private mutating func note(
    _ jobs: [JobID], _ group: GroupVerb, of owner: UInt32, at now: Date, from state: JobState, reason: String?,
    error: JobFailure?
  ) throws {
    guard !jobs.isEmpty else { return }
    let kind: Event.Kind = group.newState == nil ? .removed : .state
    let reason = group.newState == nil ? nil : reason
    try run(
      """
      INSERT INTO event (job, owner, at, kind, from_state, to_state, reason,
        error_code, error_message, error_status, error_transient)
      SELECT value, :owner, :at, :kind, :from_state, :to_state, :reason,
        :error_code, :error_message, :error_status, :error_transient
      FROM json_each(:ids)
      """
    ) { bind in
      bind("owner", owner)
      bind("at", now)
      bind("kind", kind.rawValue)
      bind("from_state", state.rawValue)
      bind("to_state", group.newState?.rawValue)
      bind("reason", reason)
      bind.failure(error)
      bind("ids", jsonArray(jobs.map(\.rawValue)))
    }
    // One statement of the only writer: its numbers have no gap.
    var number = (CheckedNumber(db.lastInsertedRowID) - jobs.count).value ?? 0
    for job in jobs {
      number = number.saturatingSum(1)
      events.append(
        Event(seq: number, job: job, at: now, kind: kind, from: state, to: group.newState, reason: reason, error: error)
      )
    }
  }
}
