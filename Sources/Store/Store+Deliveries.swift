public import FoundationEssentials
import GRDB
import TransferAPI

extension Store {
  /// Names the targets that get events from now on. Without targets nothing is stored for them.
  /// - Parameters:
  ///   - onBatchEnd: called on the writing thread after each commit with which a batch may have ended.
  ///   - onDrop: called there with a target and the number of its events that were dropped, because too many wait.
  public func setDeliveryTargets(
    _ targets: DeliveryTargets, onBatchEnd: @escaping @Sendable () -> Void,
    onDrop: @escaping @Sendable (String, Int) -> Void = { _, _ in }
  ) {
    queue.setDeliveryTargets(targets, onBatchEnd: onBatchEnd, onDrop: onDrop)
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
        bind.batch(batch)
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

  /// Deliveries to a target that are due, oldest first.
  public func dueDeliveries(
    to target: String, now: Date, limit: Int
  ) async throws(StoreError) -> [PendingDelivery] {
    try await read { db in
      let sql = """
        SELECT id, message, target, event, subject, payload, created_at, attempts
        FROM delivery INDEXED BY delivery_target
        WHERE target = :target AND next_at <= :now ORDER BY next_at, id LIMIT :limit
        """
      return try db.rows(sql) { bind in
        bind("target", target)
        bind("now", now)
        bind("limit", limit)
      } read: {
        try PendingDelivery(&$0)
      }
    }
  }

  /// When the next delivery to each target is due. A few steps in the index for each target, however many events wait.
  public func deliveryTimes() async throws(StoreError) -> [String: Date] {
    try await read { db in
      let sql = """
        WITH RECURSIVE known (target) AS (
          SELECT min(target) FROM delivery
          UNION ALL
          SELECT (SELECT min(target) FROM delivery WHERE target > known.target) FROM known
          WHERE known.target IS NOT NULL
        )
        SELECT target, (SELECT min(next_at) FROM delivery WHERE delivery.target = known.target) AS next_at
        FROM known WHERE target IS NOT NULL
        """
      let times = try db.rows(sql) { row in (try row.text("target"), try row.date("next_at")) }
      return Dictionary(times) { first, _ in first }
    }
  }

  /// Forgets a delivery: the target has it, or does not want it. Either way it has answered, and is not in back-off any more.
  public func settle(_ delivery: PendingDelivery) async throws(StoreError) {
    try await queue.run(weight: 2) { transaction in
      try transaction.run("DELETE FROM delivery WHERE id = :id") { $0("id", delivery.id) }
      guard delivery.attempts > 0 else { return }
      try transaction.run("UPDATE delivery SET attempts = 0 WHERE target = :target AND attempts > 0") { bind in
        bind("target", delivery.target)
      }
    }
  }

  /// Counts a failed attempt. Nothing else is sent to the target before `until`, events that are still to come included.
  /// - Parameter oldest: events of the target up to this time are given up.
  /// - Returns: how many were given up.
  public func postpone(
    _ delivery: PendingDelivery, until: Date, givingUpThrough oldest: Date
  ) async throws(StoreError) -> Int {
    try await queue.run(weight: 4) { transaction in
      try transaction.run("DELETE FROM delivery WHERE target = :target AND created_at <= :oldest") { bind in
        bind("target", delivery.target)
        bind("oldest", oldest)
      }
      let dropped = transaction.db.changesCount
      try transaction.run(
        """
        UPDATE delivery SET attempts = max(attempts, :attempts + 1), next_at = max(next_at, :until)
        WHERE target = :target
        """
      ) { bind in
        bind("attempts", delivery.attempts)
        bind("until", until)
        bind("target", delivery.target)
      }
      return dropped
    }
  }
}

extension Transaction {
  /// Stores an event for a target. While the target is in back-off, the event waits with the others.
  mutating func deliver(
    _ event: DeliveryEvent, about subject: String, _ payload: String, to target: String, at now: Date
  ) throws {
    try run(
      """
      INSERT INTO delivery (message, target, event, subject, payload, created_at, attempts, next_at)
      VALUES (:message, :target, :event, :subject, :payload, :now,
        coalesce((SELECT attempts FROM delivery INDEXED BY delivery_target
          WHERE target = :target ORDER BY next_at, id LIMIT 1), 0),
        max(:now, coalesce((SELECT min(next_at) FROM delivery WHERE target = :target), 0)))
      """
    ) { bind in
      bind("message", "msg_" + randomToken() + randomToken() + randomToken())
      bind("target", target)
      bind("event", event.rawValue)
      bind("subject", subject)
      bind("payload", payload)
      bind("now", now)
    }
    // Counting costs a walk through the index, so it is done for some events only.
    let interval = Int64(max(1, min(1000, targets.maximumWaiting / 100)))
    guard db.lastInsertedRowID.isMultiple(of: interval) else { return }
    for target in targets.all { try dropOldest(of: target) }
  }

  private mutating func dropOldest(of target: String) throws {
    try run(
      """
      DELETE FROM delivery WHERE id IN (
        SELECT id FROM delivery INDEXED BY delivery_target WHERE target = :target
        ORDER BY next_at DESC, id DESC LIMIT -1 OFFSET :maximum)
      """
    ) { bind in
      bind("target", target)
      bind("maximum", targets.maximumWaiting)
    }
    let dropped = db.changesCount
    if dropped > 0 { droppedDeliveries[target, default: 0] += dropped }  // checked: counts rows
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
        try run("DELETE FROM batch_end WHERE batch = :batch AND owner = :owner") { $0.batch(id) }
      } else {
        try run("INSERT OR REPLACE INTO batch_end (batch, owner) VALUES (:batch, :owner)") { $0.batch(id) }
        hasBatchEnd = true
      }
    }
  }
}
