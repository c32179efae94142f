public import FoundationEssentials
import GRDB
import TransferAPI

extension Store {
  /// Names the targets that get events from now on. Without targets nothing is stored for them.
  /// - Parameter onBatchEnd: called on the writing thread after each commit with which a batch may have ended.
  public func setDeliveryTargets(_ targets: DeliveryTargets, onBatchEnd: @escaping @Sendable () -> Void) {
    queue.setDeliveryTargets(targets, onBatchEnd: onBatchEnd)
  }

  /// Batches whose end is not reported yet, oldest first.
  public func endedBatches(limit: Int) async throws(StoreError) -> [EndedBatch] {
    try await read { db in
      try db.rows("SELECT id, batch, owner FROM batch_end ORDER BY id LIMIT :limit") { bind in
        bind("limit", limit)
      } read: { row in
        EndedBatch(
          id: try row.int64("id"), batch: BatchID(owner: try row.uid("owner"), name: try row.text("batch")))
      }
    }
  }

  /// When the first job of a batch began and the last one ended. Reads all its jobs.
  public func span(of batch: BatchID) async throws(StoreError) -> (start: Date?, end: Date?) {
    try await read { db in
      try db.row(
        "SELECT min(started_at) AS started, max(finished_at) AS ended FROM job WHERE batch = :batch AND owner = :owner"
      ) { bind in
        bind("batch", batch.name)
        bind("owner", batch.owner)
      } read: { row in
        (start: try row.optionalDate("started"), end: try row.optionalDate("ended"))
      } ?? (start: nil, end: nil)
    }
  }

  /// Replaces the end of a batch by its deliveries, in one transaction.
  /// - Parameter payload: JSON; `nil`: nothing is reported.
  /// - Returns: `false`, without any change, if the batch has new jobs since, or the end was reported.
  @discardableResult
  public func report(_ end: EndedBatch, payload: String?, at now: Date) async throws(StoreError) -> Bool {
    try await queue.run(weight: 4) { transaction in
      try transaction.run("DELETE FROM batch_end WHERE id = :id") { $0("id", end.id) }
      guard transaction.db.changesCount == 1 else { return false }
      guard let payload else { return true }
      for target in transaction.targets.batchEnd {
        try transaction.deliver(.batchEnd, about: end.batch.name, payload, to: target, at: now)
      }
      return true
    }
  }

  /// Deliveries that are due, oldest first.
  public func dueDeliveries(now: Date, limit: Int) async throws(StoreError) -> [PendingDelivery] {
    try await read { db in
      let sql = """
        SELECT id, message, target, event, subject, payload, created_at, attempts
        FROM delivery INDEXED BY delivery_due WHERE next_at <= :now ORDER BY next_at, id LIMIT :limit
        """
      return try db.rows(sql) { bind in
        bind("now", now)
        bind("limit", limit)
      } read: {
        try PendingDelivery(&$0)
      }
    }
  }

  /// When the next delivery is due; `nil`: there is none.
  public func nextDelivery() async throws(StoreError) -> Date? {
    try await read { db in
      try db.row("SELECT min(next_at) AS next_at FROM delivery") { try $0.optionalDate("next_at") } ?? nil
    }
  }

  /// Forgets a delivery: the target has it, or it was given up.
  public func settle(_ delivery: PendingDelivery) async throws(StoreError) {
    try await queue.run { transaction in
      try transaction.run("DELETE FROM delivery WHERE id = :id") { $0("id", delivery.id) }
    }
  }

  /// Counts a failed attempt. Nothing else is sent to the target before this time.
  public func postpone(_ delivery: PendingDelivery, until: Date) async throws(StoreError) {
    try await queue.run(weight: 4) { transaction in
      try transaction.run("UPDATE delivery SET attempts = attempts + 1 WHERE id = :id") { $0("id", delivery.id) }
      try transaction.run(
        "UPDATE delivery SET next_at = :until WHERE target = :target AND next_at < :until"
      ) { bind in
        bind("until", until)
        bind("target", delivery.target)
      }
    }
  }
}

extension Transaction {
  /// Stores an event for a target.
  func deliver(
    _ event: DeliveryEvent, about subject: String, _ payload: String, to target: String, at now: Date
  ) throws {
    try run(
      """
      INSERT INTO delivery (message, target, event, subject, payload, created_at, next_at)
      VALUES (:message, :target, :event, :subject, :payload, :now, :now)
      """
    ) { bind in
      bind("message", "msg_" + randomToken() + randomToken() + randomToken())
      bind("target", target)
      bind("event", event.rawValue)
      bind("subject", subject)
      bind("payload", payload)
      bind("now", now)
    }
  }

  /// Notes which batches have ended or go on with this transaction. Called when the sums are written.
  mutating func noteBatchEnds(_ changes: [BatchID: StateSums.Change]) throws {
    guard !targets.batchEnd.isEmpty else { return }
    for (id, change) in changes where !id.name.isEmpty {
      let unfinished = JobState.allCases.filter { !$0.isFinal && $0 != .failed }
      let difference = unfinished.reduce(0) { $0 + change.jobs[$1] }
      guard difference != 0 else { continue }
      let counts = try StateCounts.fetch(db, batch: id)
      if unfinished.contains(where: { counts[$0] > 0 }) {
        try run("DELETE FROM batch_end WHERE batch = :batch AND owner = :owner") { bind in
          bind("batch", id.name)
          bind("owner", id.owner)
        }
      } else {
        try run("INSERT OR REPLACE INTO batch_end (batch, owner) VALUES (:batch, :owner)") { bind in
          bind("batch", id.name)
          bind("owner", id.owner)
        }
        hasBatchEnd = true
      }
    }
  }
}
