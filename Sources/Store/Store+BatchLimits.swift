public import FoundationEssentials
import GRDB
import TransferAPI

extension Store {
  /// The batches with limits of their own, without their priorities.
  public func limitedBatches() async throws(StoreError) -> [BatchID: BatchLimits] {
    try await read { db in
      let sql = """
        SELECT name, owner, max_active, limit_rate FROM batch INDEXED BY batch_limited
        WHERE max_active IS NOT NULL OR limit_rate IS NOT NULL
        """
      var limits: [BatchID: BatchLimits] = [:]
      try db.each(sql) { _ in
      } body: { row in
        let id = BatchID(owner: try row.uid("owner"), name: try row.text("name"))
        limits[id] = BatchLimits(
          maxActive: try row.optionalInt64("max_active").map { Int(clamping: $0) },
          limitRate: try row.optionalInt64("limit_rate"))
        return true
      }
      return limits
    }
  }

  /// Changes the limits of a batch. Durable when this returns, except for the priorities of its jobs: `setPriority` changes
  /// them.
  /// - Throws: `noSuchBatch`.
  public func setLimits(_ limits: BatchLimits, of batch: BatchID) async throws(StoreError) {
    try await queue.run { transaction in
      try transaction.run(
        """
        UPDATE batch SET max_active = :max_active, limit_rate = :limit_rate, priority = :priority
        WHERE name = :batch AND owner = :owner
        """
      ) { bind in
        bind("max_active", limits.maxActive)
        bind("limit_rate", limits.limitRate)
        bind("priority", limits.priority)
        bind.batch(batch)
      }
      guard transaction.db.changesCount > 0 else { throw StoreError.noSuchBatch(batch.name) }
    }
  }

  /// - Throws: `noSuchBatch`.
  public func limits(of batch: BatchID) async throws(StoreError) -> BatchLimits {
    let found = try await read { db in try db.limits(of: batch) }
    guard let found else { throw .noSuchBatch(batch.name) }
    return found
  }

  /// Gives the priority to some unfinished jobs of a batch that have another one. Running ones get it too: otherwise the waiting ones
  /// would take their slots.
  /// - Returns: whether there may be more of them.
  public func setPriority(
    _ priority: Int, of batch: BatchID, limit: Int = 2000, at now: Date
  ) async throws(StoreError) -> Bool {
    try await queue.run(weight: limit) { transaction in
      let sql = """
        SELECT id, state FROM job INDEXED BY job_batch_state
        WHERE batch = :batch AND owner = :owner 
          AND (state = 'queued' OR state = 'retrying' OR state = 'paused' OR state = 'running')
          AND priority <> :priority LIMIT :limit
        """
      let jobs = try transaction.db.rows(sql) { bind in
        bind.batch(batch)
        bind("priority", priority)
        bind("limit", limit)
      } read: { row -> (id: JobID, state: JobState) in
        (try row.jobID("id"), try row.word("state"))
      }
      for (id, state) in jobs {
        try transaction.run("UPDATE job SET priority = :priority WHERE id = :id") { bind in
          bind("priority", priority)
          bind("id", id)
        }
        try transaction.note(.changed, job: id, of: batch.owner, at: now, from: state, to: state)
      }
      return jobs.count == limit
    }
  }
}

extension Database {
  /// `nil`: there is no such batch.
  func limits(of batch: BatchID) throws -> BatchLimits? {
    try row("SELECT max_active, limit_rate, priority FROM batch WHERE name = :batch AND owner = :owner") { bind in
      bind.batch(batch)
    } read: { row in
      BatchLimits(
        maxActive: try row.optionalInt64("max_active").map { Int(clamping: $0) },
        limitRate: try row.optionalInt64("limit_rate"),
        priority: try row.optionalInt64("priority").map { Int(clamping: $0) })
    }
  }
}
