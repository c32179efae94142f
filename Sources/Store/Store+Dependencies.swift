public import FoundationEssentials
import GRDB
public import TransferAPI

/// The effects of ended jobs on the jobs that wait for them.
public struct DependencyChanges: Equatable, Sendable {
  /// The number of dependencies that have completed.
  public var completed = 0
  /// Jobs that have failed, because something that they waited for has failed, was cancelled or was removed.
  public var failed: [JobID] = []
}

extension Store {
  /// Number of jobs that one transaction changes: each may have an event and a hook.
  static let dependencyStep = 500

  /// Whether a job waits for another job or a batch, or waits to be examined.
  public func hasDependencies() async throws(StoreError) -> Bool {
    try await read { db in
      try db.row(
        """
        SELECT EXISTS (SELECT 1 FROM dependency INDEXED BY dependency_on_job WHERE is_open = 1 AND on_job IS NOT NULL)
          OR EXISTS (SELECT 1 FROM dependency INDEXED BY dependency_on_batch WHERE is_open = 1 AND on_batch IS NOT NULL)
          AS found
        """
      ) {
        try $0.bool("found")
      } ?? false
    }
  }

  /// Checks that what a job would wait for exists, and that it would not wait for itself. Changes nothing.
  /// - Throws: `notFound`, `noSuchBatch`, `ambiguousBatch`, `dependencyCycle`, `tooManyDependents`, `io`.
  public func checkDependencies(of spec: JobSpec, in scope: Scope) async throws(StoreError) {
    guard !spec.options.schedule.after.isEmpty else { return }
    try await queue.run(weight: 1) { transaction in
      _ = try transaction.dependencies(of: spec, in: scope)
    }
  }

  /// Looks at the jobs that wait for something that has ended: they have one dependency less, or fail. A failure may make further
  /// jobs fail; they are examined in the same call, some hundred in each transaction, however long the chain.
  ///
  /// Durable when this returns. What is to be examined is stored with the ends themselves (`dependency_check`), so a crash in
  /// between leaves the rest to the next call.
  /// - Parameter wantsHook: whether a failed job gets its hook.
  public func resolveDependencies(at now: Date, wantsHook: Bool) async throws(StoreError) -> DependencyChanges {
    var changes = DependencyChanges()
    while try await read({ db in try Int64.fetchOne(db, sql: "SELECT 1 FROM dependency_check LIMIT 1") != nil }) {
      let step = try await queue.run(weight: Self.dependencyStep * 2) { transaction in
        try transaction.resolveDependencies(at: now, wantsHook: wantsHook)
      }
      changes.completed += step.completed  // checked: counts rows
      changes.failed += step.failed
    }
    return changes
  }
}

/// A row of `dependency_check`.
private struct DependencyCheck {
  let id: Int64
  let target: StoredDependency.Target
  /// The target is a job that was removed after it had completed.
  let completed: Bool
  /// Dependents up to this one have been examined.
  let afterJob: JobID

  enum Outcome {
    case unfinished
    case completed
    /// For people: completes "job 12, for which it waited, …".
    case failed(String)
  }

  init(_ row: inout RowReader) throws {
    id = try row.int64("id")
    completed = try row.bool("completed")
    afterJob = try row.jobID("after_job")
    if let job = try row.optionalJobID("on_job") {
      target = .job(job)
    } else {
      target = .batch(BatchID(owner: try row.uid("on_owner"), name: try row.text("on_batch")))
    }
  }
}

extension Transaction {
  /// One step of `Store.resolveDependencies`.
  fileprivate mutating func resolveDependencies(at now: Date, wantsHook: Bool) throws -> DependencyChanges {
    var changes = DependencyChanges()
    var left = Store.dependencyStep
    while left > 0, let check = try nextCheck() {
      let dependents: [JobID]
      switch try outcome(of: check) {
      case .unfinished: dependents = []
      case .completed:
        dependents = try self.dependents(check, limit: left)
        for job in dependents { try complete(check.target, of: job) }
        changes.completed += dependents.count  // checked: counts rows
      case .failed(let reason):
        dependents = try self.dependents(check, limit: left)
        for job in dependents where try isUnfinished(job) {
          try expire(job, error: .dependency(reason), at: now, wantsHook: wantsHook)
          changes.failed.append(job)
        }
      }
      if dependents.count == left, let last = dependents.last {
        try run("UPDATE dependency_check SET after_job = :last WHERE id = :id") { bind in
          bind("last", last)
          bind("id", check.id)
        }
      } else {
        try run("DELETE FROM dependency_check WHERE id = :id") { $0("id", check.id) }
      }
      left -= dependents.count + 1  // checked: at most `left` dependents
    }
    return changes
  }

  private func nextCheck() throws -> DependencyCheck? {
    try row("SELECT id, on_job, on_batch, on_owner, completed, after_job FROM dependency_check ORDER BY id LIMIT 1") {
      try DependencyCheck(&$0)
    }
  }

  private func outcome(of check: DependencyCheck) throws -> DependencyCheck.Outcome {
    switch check.target {
    case .job(let id):
      let state: JobState? = try row("SELECT state FROM job WHERE id = :id", id: id.rawValue) { try $0.word("state") }
      switch state {
      case .completed: return .completed
      case .failed: return .failed("job \(id), for which it waited, has failed")
      case .cancelled: return .failed("job \(id), for which it waited, was cancelled")
      case .queued, .running, .retrying, .paused: return .unfinished
      case nil: return check.completed ? .completed : .failed("job \(id), for which it waited, was removed")
      }
    case .batch(let batch): return try outcome(of: batch)
    }
  }

  /// A batch has failed as soon as one of its jobs has, and is complete when none of them is unfinished. Read from the jobs
  /// themselves: the sums of this transaction are not written yet.
  private func outcome(of batch: BatchID) throws -> DependencyCheck.Outcome {
    func first(_ state: JobState) throws -> JobID? {
      try row(
        """
        SELECT id FROM job INDEXED BY job_batch_state WHERE batch = :batch AND owner = :owner AND state = :state LIMIT 1
        """
      ) { bind in
        bind.batch(batch)
        bind("state", state.rawValue)
      } read: {
        try $0.jobID("id")
      }
    }
    if let id = try first(.failed) {
      return .failed("job \(id) of batch \(batch.name), for which it waited, has failed")
    }
    if let id = try first(.cancelled) {
      return .failed("job \(id) of batch \(batch.name), for which it waited, was cancelled")
    }
    for state in JobState.allCases where !state.isFinal {
      if try first(state) != nil { return .unfinished }
    }
    return .completed
  }

  /// Jobs that wait for the target, after those that have been examined.
  private func dependents(_ check: DependencyCheck, limit: Int) throws -> [JobID] {
    let isBatch = check.target.columns.job == nil
    let target = isBatch ? "on_batch = :on_batch AND on_owner = :on_owner" : "on_job = :on_job"
    let index = isBatch ? "dependency_on_batch" : "dependency_on_job"
    let sql = """
      SELECT job FROM dependency INDEXED BY \(index) WHERE \(target) AND is_open = 1 AND job > :after ORDER BY job LIMIT :limit
      """
    return try db.rows(sql) { bind in
      bind.only(check.target)
      bind("after", check.afterJob)
      bind("limit", limit)
    } read: {
      try $0.jobID("job")
    }
  }

  private func complete(_ target: StoredDependency.Target, of job: JobID) throws {
    try run(
      """
      UPDATE dependency SET is_open = 0
      WHERE job = :job AND is_open = 1 AND on_job IS :on_job AND on_batch IS :on_batch AND on_owner IS :on_owner
      """
    ) { bind in
      bind("job", job)
      bind.columns(of: target)
    }
    try run("UPDATE job SET open_dependencies = open_dependencies - 1 WHERE id = :job") { $0("job", job) }
  }

  private func isUnfinished(_ job: JobID) throws -> Bool {
    try row(
      "SELECT finished_at IS NULL AND state <> 'running' AS is_unfinished FROM job WHERE id = :id", id: job.rawValue
    ) { try $0.bool("is_unfinished") } ?? false
  }
}

extension JobFailure {
  fileprivate static func dependency(_ reason: String) -> JobFailure {
    JobFailure(
      code: .dependency, message: "cannot begin: \(reason); retry looks again", transient: false)
  }
}
