import GRDB
import Synchronization
import Threads
import TransferAPI

/// Group commit: many callers, one transaction, one `fsync`.
///
/// If the writer is idle, an operation begins at once. Operations that arrive meanwhile form the next transaction. A
/// caller gets its result after the commit, so the result is durable. Operations run on the queue's own thread, not on
/// Swift's threads. Cancelling a task does not remove an operation that it has submitted.
final class WriteQueue: Sendable {
  /// Maximum work of one transaction, in approximate numbers of rows: about 10 ms.
  static let groupWeight = 1000

  private let pool: DatabasePool
  private let thread = BlockingThreadPool("store-writer", maximum: 1)
  private let path: String
  private let onEvents: @Sendable ([Event]) -> Void
  private let state = Mutex(State())
  /// Unsafe by its type alone: used on the writing thread only.
  private nonisolated(unsafe) var statements: StatementCache?

  private struct State {
    var waiting: [Operation] = []
    var isWriting = false
    var isClosed = false
    var targets = DeliveryTargets.none
    var onBatchEnd: @Sendable () -> Void = {}
    var onDrop: @Sendable (String, Int) -> Void = { _, _ in }
    /// When erased secrets were last taken out of the WAL.
    var lastScrub: ContinuousClock.Instant?
    /// When they are to be taken out the next time; `nil`: nothing was erased since.
    var nextScrub: ContinuousClock.Instant?
  }

  /// Secrets that were erased leave the WAL at most this often.
  static let scrubInterval = Duration.seconds(10)

  private struct Operation: Sendable {
    let weight: Int
    let perform: @Sendable (inout Transaction) -> Performed
    let refuse: @Sendable (StoreError) -> Void
  }

  /// An operation that was performed; its caller gets the result when the group was committed or has failed.
  private struct Performed: Sendable {
    let error: StoreError?
    /// Called with the error of the whole group; `nil` if the group was committed.
    let answer: @Sendable (StoreError?) -> Void
  }

  /// - Parameter onEvents: called on the writing thread after each commit that has events, before the callers get their
  ///   results.
  init(pool: DatabasePool, onEvents: @escaping @Sendable ([Event]) -> Void) {
    self.pool = pool
    path = pool.path
    self.onEvents = onEvents
  }

  /// Performs `body` in the next transaction and returns when that is on disk. If `body` throws, only its own
  /// writes are undone.
  /// - Parameter weight: about how many rows it writes.
  func run<Value: Sendable>(
    weight: Int = 1, _ body: @escaping @Sendable (inout Transaction) throws -> Value
  ) async throws(StoreError) -> Value {
    let path = path
    let result: Result<Value, StoreError> = await withCheckedContinuation { continuation in
      let operation = Operation(weight: weight) { transaction in
        let result: Result<Value, StoreError>
        do {
          result = .success(try body(&transaction))
        } catch {
          result = .failure(StoreError(error, path: path))
        }
        return Performed(error: result.failure) { groupError in
          continuation.resume(
            returning: result.failure == nil ? groupError.map(Result.failure) ?? result : result)
        }
      } refuse: { error in
        continuation.resume(returning: .failure(error))
      }
      enqueue(operation)
    }
    return try result.get()
  }

  /// Refuses further operations. Calls `body` on the writing thread when all accepted operations have their results.
  /// - Returns: `false` if the queue was closed before; `body` is not called then.
  func close(_ body: @escaping @Sendable (Database) -> Void) -> Bool {
    state.withLock { state in
      if state.isClosed { return false }
      state.isClosed = true
      // The writing thread is serial, so this runs after the loop that writes the accepted operations.
      write { db in
        self.statements = nil
        body(db)
      }
      return true
    }
  }

  func setDeliveryTargets(
    _ targets: DeliveryTargets, onBatchEnd: @escaping @Sendable () -> Void,
    onDrop: @escaping @Sendable (String, Int) -> Void
  ) {
    state.withLock { ($0.targets, $0.onBatchEnd, $0.onDrop) = (targets, onBatchEnd, onDrop) }
  }

  var isClosed: Bool { state.withLock { $0.isClosed } }
  /// Operations that no transaction has taken up yet.
  var waitingCount: Int { state.withLock { $0.waiting.count } }

  private func enqueue(_ operation: Operation) {
    let isAccepted = state.withLock { state in
      if state.isClosed { return false }
      state.waiting.append(operation)
      if !state.isWriting {
        state.isWriting = true
        // Under the lock, so that `close` cannot come between.
        write { db in self.writeGroups(db) }
      }
      return true
    }
    if !isAccepted { operation.refuse(.closed) }
  }

  /// Empties the writing connection's cache after all earlier operations.
  func releaseMemory() {
    let pool = pool
    // Under the lock, so that `close` cannot come between. On the writing thread, where nothing else uses the connection.
    state.withLock { state in
      guard !state.isClosed else { return }
      thread.start {
        self.statements = nil
        pool.releaseMemory()
      }
    }
  }

  /// Runs the closure on the writing thread, after all earlier operations.
  private func write(_ body: @escaping @Sendable (Database) -> Void) {
    let pool = pool
    thread.start { pool.writeWithoutTransaction(body) }
  }

  /// Commits groups until no call waits. Runs on the writing thread. Waiting a moment for more calls costs more than the
  /// transactions that it saves (measured).
  private func writeGroups(_ db: Database) {
    while let group = nextGroup() {
      commit(group, db)
      scrubIfDue(db)
    }
  }

  private func nextGroup() -> [Operation]? {
    state.withLock { state in
      var weight = 0
      let count = state.waiting.prefix { operation in
        defer { weight += operation.weight }
        return weight == 0 || weight + operation.weight <= Self.groupWeight
      }.count
      guard count > 0 else {
        state.isWriting = false
        return nil
      }
      defer { state.waiting.removeFirst(count) }
      return Array(state.waiting.prefix(count))
    }
  }

  private func commit(_ group: [Operation], _ db: Database) {
    let (targets, onBatchEnd, onDrop) = state.withLock { ($0.targets, $0.onBatchEnd, $0.onDrop) }
    let statements = statements ?? StatementCache(db)
    self.statements = statements
    var transaction = Transaction(db, path: path, targets: targets, statements: statements)
    var performed: [Performed] = []
    performed.reserveCapacity(group.count)
    do {
      try db.beginTransaction(.immediate)
      for operation in group {
        performed.append(try perform(operation, alone: group.count == 1, in: &transaction))
      }
      if db.isInsideTransaction {
        try transaction.writeSums()
        try db.commit()
      }
    } catch {
      try? db.rollback()
      let error = StoreError(error, path: path)
      for performed in performed { performed.answer(error) }
      for operation in group.dropFirst(performed.count) { operation.refuse(error) }
      return
    }
    if !transaction.events.isEmpty { onEvents(transaction.events) }
    if transaction.hasBatchEnd { onBatchEnd() }
    for (target, count) in transaction.droppedDeliveries { onDrop(target, count) }
    for performed in performed { performed.answer(nil) }
    if transaction.isErasing { planScrub() }
  }

  // MARK: Scrubbing

  /// Plans a checkpoint that removes erased secrets from the WAL. It runs after the callers have their results.
  func planScrub() {
    let delay = state.withLock { state -> Duration? in
      guard state.nextScrub == nil else { return nil }
      let next = max(.now, state.lastScrub.map { $0 + Self.scrubInterval } ?? .now)
      state.nextScrub = next
      return ContinuousClock.now.duration(to: next)
    }
    guard let delay else { return }
    Task {
      if delay > .zero { try? await Task.pause(for: delay) }
      // Under the lock, so that `close`, which does the same, cannot come between.
      self.state.withLock { state in
        if !state.isClosed { self.write { db in self.scrubIfDue(db) } }
      }
    }
  }

  /// On the writing thread, between two transactions.
  private func scrubIfDue(_ db: Database) {
    let isDue = state.withLock { state in
      guard let next = state.nextScrub, next <= .now else { return false }
      state.nextScrub = nil
      state.lastScrub = .now
      return true
    }
    guard isDue else { return }
    // Do not wait for readers that block the checkpoint, because that would delay writers.
    try? db.execute(sql: "PRAGMA busy_timeout = 0")
    let isDone = (try? db.checkpoint(.truncate)) != nil
    try? db.execute(sql: "PRAGMA busy_timeout = \(DatabaseFile.busyTimeout * 1000)")
    if !isDone { planScrub() }
  }

  /// - Throws: only if the whole transaction is lost.
  private func perform(
    _ operation: Operation, alone: Bool, in transaction: inout Transaction
  ) throws -> Performed {
    let events = transaction.events.count
    let sums = transaction.sums
    if !alone { try transaction.run("SAVEPOINT operation") }
    let performed = operation.perform(&transaction)
    if let error = performed.error {
      transaction.events.removeSubrange(events...)
      transaction.sums = sums
      // On a full disk and similar errors SQLite itself rolls back the transaction, including the other operations of
      // this group.
      guard transaction.db.isInsideTransaction else {
        if alone { return performed }
        throw error
      }
      if alone {
        try transaction.db.rollback()
        return performed
      }
      try transaction.run("ROLLBACK TO operation")
    }
    if !alone { try transaction.run("RELEASE operation") }
    return performed
  }
}

extension Result {
  /// The error, `nil` for success.
  var failure: Failure? {
    switch self {
    case .success: nil
    case .failure(let error): error
    }
  }
}
