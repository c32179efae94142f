import CSQLite
public import FoundationEssentials
import GRDB
import Glibc
public import TransferAPI

/// The jobs, their attempts and their history, in `<directory>/transferd.db`. They survive a power cut.
///
/// Every call that changes something returns when the change is on disk (WAL, `synchronous=FULL`), or throws without
/// any change. Calls may come from any task at any time; calls that wait together are committed together. Reads run
/// concurrently with writes and see every change that was awaited before. A call is completed even if its task is
/// cancelled. The store has no clock: times are passed in, and stored to the millisecond.
///
/// Only one process at a time may have the directory open; the caller ensures that.
public final class Store: Sendable {
  /// 8 hexadecimal digits that identify this database among all others. They never change.
  public let storeID: String
  /// Why secrets that an earlier release left in the file's unused space are still there; `nil`: there are none.
  public let rewriteFailure: String?
  let path: String
  let pool: DatabasePool
  let queue: WriteQueue
  private let readers: Readers

  /// Opens or creates the database, migrates it to this release's schema, and sets file mode 0600.
  ///
  /// Blocks: for a while if a large database has to be checked because the machine went down with it open, and for up to a
  /// minute if an earlier release has written a database with a million jobs.
  /// - Parameters:
  ///   - directory: the database's directory; created (0700) if it is missing.
  ///   - owner: the daemon's uid. Jobs from releases without owners get this owner.
  ///   - onMigration: called before the database of an earlier release is changed.
  ///   - onEvents: called after each commit, in the order of the commits, with the events of that commit, and before the call
  ///     that caused them returns. It runs on the writing thread: it must be quick and must not wait for the store.
  /// - Throws: `newerVersion`, `noSpaceToMigrate`, `damaged`, `readOnly`: the files are as they were. `diskFull`, `io`.
  public init(
    directory: String, owner: UInt32 = geteuid(), now: Date,
    onMigration: @escaping @Sendable (PendingMigration) -> Void = { _ in },
    onEvents: @escaping @Sendable ([Event]) -> Void
  ) throws(StoreError) {
    csqlite_disable_memory_statistics()
    let file = DatabaseFile(directory: directory, owner: owner, willMigrate: onMigration)
    guard mkdir(directory, 0o700) == 0 || errno == EEXIST else {
      throw .io("cannot create \(directory): \(String(cString: strerror(errno)))")
    }
    rewriteFailure = try file.prepare(storeID: randomToken(), now: now)
    path = file.path
    let isScrubbed: Bool
    do {
      pool = try DatabasePool(path: path, configuration: DatabaseFile.configuration)
      // GRDB sets NORMAL while opening, which may lose commits in a power cut.
      try pool.writeWithoutTransaction { db in try db.execute(sql: "PRAGMA synchronous = FULL") }
      try Migrations.migrator(owner: owner).migrate(pool)
      // Secrets that were erased before a crash are still in the WAL.
      isScrubbed = (try? pool.writeWithoutTransaction { db in try db.checkpoint(.truncate) }) != nil
      guard let id = try pool.writeWithoutTransaction(Meta.storeID) else {
        throw StoreError.damaged(path: path, reason: "it has no store id")
      }
      storeID = id
      try pool.write(Meta.noteOpened)
      readers = try Readers(path: file.path)
    } catch {
      throw StoreError(error, path: file.path)
    }
    queue = WriteQueue(pool: pool, onEvents: onEvents)
    if !isScrubbed { queue.planScrub() }
  }

  /// Finishes the calls that are under way, moves the WAL into the database, and closes it. Later calls throw `closed`.
  public func close() async {
    let pool = pool
    let queue = queue
    await withCheckedContinuation { continuation in
      let isFirst = queue.close { db in
        try? db.inTransaction {
          try Meta.noteClosed(db)
          return .commit
        }
        _ = try? db.checkpoint(.truncate)
        continuation.resume()
      }
      if !isFirst { continuation.resume() }
    }
    // Readers first: the last connection deletes the WAL's files, and a reader cannot.
    readers.close()
    try? pool.close()
  }

  /// Empties the caches. Does not wait for that.
  public func releaseMemory() {
    queue.releaseMemory()
    readers.releaseMemory()
  }

  /// Reads one consistent state, while other operations may write.
  func read<Value: Sendable>(
    _ body: @escaping @Sendable (Database) throws -> Value
  ) async throws(StoreError) -> Value {
    guard !queue.isClosed else { throw .closed }
    return try await readers.read(body)
  }
}
