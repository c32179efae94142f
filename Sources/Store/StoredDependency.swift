import GRDB
import TransferAPI

/// What a job waits for, as it is stored: a batch has its owner.
struct StoredDependency: Equatable, Sendable {
  enum Target: Hashable, Sendable {
    case job(JobID)
    case batch(BatchID)
  }

  var target: Target
  /// It has not completed.
  var isOpen: Bool
  /// It may have ended already, so its dependents have to be examined at once.
  var mayHaveEnded: Bool
}

extension Transaction {
  /// Finds what a new job waits for. Changes nothing.
  /// - Parameter scope: jobs and batches out of scope do not exist.
  /// - Throws: `notFound`, `noSuchBatch`, `ambiguousBatch`, `dependencyCycle`, `tooManyDependents`.
  func dependencies(of spec: JobSpec, in scope: Scope) throws -> [StoredDependency] {
    guard !spec.options.schedule.after.isEmpty else { return [] }
    var seen: Set<StoredDependency.Target> = []
    let dependencies = try spec.options.schedule.after.map { dependency in
      switch dependency {
      case .job(let id): try self.dependency(on: id, in: scope)
      case .batch(let name):
        StoredDependency(
          target: .batch(try db.batchID(named: name, for: spec.owner, in: scope)), isOpen: true, mayHaveEnded: true)
      }
    }.filter { seen.insert($0.target).inserted }
    if let batch = spec.batchID { try refuseCycle(through: batch, seen) }
    return dependencies
  }

  private func dependency(on id: JobID, in scope: Scope) throws -> StoredDependency {
    let found = try row(
      "SELECT owner, state FROM job WHERE id = :id", id: id.rawValue
    ) { row -> (owner: UInt32, state: JobState) in
      (try row.uid("owner"), try row.word("state"))
    }
    guard let found, scope.includes(found.owner) else { throw StoreError.notFound(id) }
    return StoredDependency(
      target: .job(id), isOpen: found.state != .completed, mayHaveEnded: found.state.isFinal)
  }

  /// Stores what a new job waits for.
  func insert(_ dependencies: [StoredDependency], of job: JobID) throws {
    for (position, dependency) in dependencies.enumerated() {
      try run(
        """
        INSERT INTO dependency (job, position, on_job, on_batch, on_owner, is_open)
        VALUES (:job, :position, :on_job, :on_batch, :on_owner, :is_open)
        """
      ) { bind in
        bind("job", job)
        bind("position", position)
        bind.columns(of: dependency.target)
        bind("is_open", dependency.isOpen)
      }
      guard dependency.isOpen, dependency.mayHaveEnded else { continue }
      try run(
        """
        INSERT INTO dependency_check (on_job, on_batch, on_owner) VALUES (:on_job, :on_batch, :on_owner)
        ON CONFLICT DO UPDATE SET after_job = 0
        """
      ) { bind in
        bind.columns(of: dependency.target)
      }
    }
  }
}

extension ParameterBinder {
  /// Binds `:on_job`, or `:on_batch` and `:on_owner`: the columns that do not belong to the target are not among the parameters.
  mutating func only(_ target: StoredDependency.Target) {
    switch target {
    case .job(let id): self("on_job", id)
    case .batch(let batch):
      self("on_batch", batch.name)
      self("on_owner", batch.owner)
    }
  }

  /// Binds `:on_job`, `:on_batch` and `:on_owner`; NULL what does not belong to the target.
  mutating func columns(of target: StoredDependency.Target) {
    let (id, batch) = target.columns
    self("on_job", id)
    self("on_batch", batch?.name)
    self("on_owner", batch.map { Int64($0.owner) })
  }
}

extension StoredDependency.Target {
  var columns: (job: JobID?, batch: BatchID?) {
    switch self {
    case .job(let id): (id, nil)
    case .batch(let batch): (nil, batch)
    }
  }
}

extension Transaction {
  /// The most jobs that the search for a cycle examines: some milliseconds.
  static let maximumCycleSearch = 5000

  /// A new job in a batch closes a cycle if it waits for something that waits for the batch. Other new jobs cannot: nothing
  /// waits for them yet. So the search begins with the jobs that wait for the batch, which usually are none.
  /// - Parameter targets: what the new job waits for.
  private func refuseCycle(through batch: BatchID, _ targets: Set<StoredDependency.Target>) throws {
    guard !targets.contains(.batch(batch)) else { throw StoreError.dependencyCycle(batch: batch.name) }
    var seen: Set<StoredDependency.Target> = [.batch(batch)]
    var waiting: [StoredDependency.Target] = [.batch(batch)]
    while let target = waiting.popLast() {
      for (id, itsBatch) in try dependents(on: target) {
        let reached = [StoredDependency.Target.job(id)] + (itsBatch.map { [.batch($0)] } ?? [])
        for next in reached where seen.insert(next).inserted {
          guard !targets.contains(next) else { throw StoreError.dependencyCycle(batch: batch.name) }
          waiting.append(next)
        }
      }
      guard seen.count <= Self.maximumCycleSearch else { throw StoreError.tooManyDependents(batch: batch.name) }
    }
  }

  /// Jobs that wait for the target, with their batches: at most one more than a search examines.
  private func dependents(on target: StoredDependency.Target) throws -> [(JobID, BatchID?)] {
    let sql =
      target.columns.job == nil
      ? """
      SELECT job.id, job.owner, job.batch FROM dependency INDEXED BY dependency_on_batch JOIN job ON job.id = dependency.job
      WHERE on_batch = :on_batch AND on_owner = :on_owner AND is_open = 1 LIMIT :limit
      """
      : """
      SELECT job.id, job.owner, job.batch FROM dependency INDEXED BY dependency_on_job JOIN job ON job.id = dependency.job
      WHERE on_job = :on_job AND is_open = 1 LIMIT :limit
      """
    return try db.rows(sql) { bind in
      bind.only(target)
      bind("limit", Self.maximumCycleSearch + 1)
    } read: { row in
      let id = try row.jobID("id")
      let owner = try row.uid("owner")
      return (id, try row.optionalText("batch").map { BatchID(owner: owner, name: $0) })
    }
  }
}

extension Database {
  /// SQL: the first thing that a row of `job` waits for, as `JobDependency` writes it.
  static let firstDependency = """
    CASE WHEN job.open_dependencies > 0 THEN (
      SELECT coalesce('batch:' || on_batch, on_job || '') FROM dependency
      WHERE dependency.job = job.id AND is_open = 1 ORDER BY position LIMIT 1) END AS first_dependency
    """
}

extension RowReader {
  /// `nil`: there is none.
  mutating func dependency(_ name: StaticString) throws -> JobDependency? {
    try optionalText(name).flatMap { try? JobDependency(parsing: $0) }
  }
}
