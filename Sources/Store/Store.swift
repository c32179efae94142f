public import FoundationEssentials
import GRDB
import Glibc
public import TransferAPI

/// The jobs, their tries and their history in `<directory>/transferd.db`: what is true after a power cut.
///
/// Every verb that changes something returns when the change is on disk (WAL, `synchronous=FULL`), or throws
/// and has changed nothing. Verbs may be called from anywhere, at once; those that wait together are
/// committed together. Reads run beside the writing and see every change that was awaited before. A cancelled
/// task's call is finished all the same. The store has no clock: times are passed in, and kept to the
/// millisecond.
///
/// The caller sees to it that one process at a time has the directory open.
public final class Store: Sendable {
  /// 8 hexadecimal digits, made with the database: tells it from any other, before and after.
  public let storeID: String
  /// Why secrets that an earlier release left in the file's unused space are still there; `nil` where there are none.
  public let rewriteFailure: String?
  let path: String
  let pool: DatabasePool
  let queue: WriteQueue
  private let readers: Readers

  /// Opens or creates the database, brings it to this release's schema, and sets file mode 0600.
  ///
  /// Blocks, for some time where a large database has to be checked because the machine went down with it
  /// open.
  /// - Parameters:
  ///   - directory: where the database is; made (0700) where it is missing.
  ///   - owner: the daemon's uid, to which jobs from releases without owners belong.
  ///   - onEvents: called after each commit, in the order of the commits, with the events that it made true,
  ///     and before the verb returns. On the writing thread: it must be quick and not wait for the store.
  /// - Throws: `newerVersion`, `damaged`, `readOnly`: the files are as they were. `diskFull`, `io`.
  public init(
    directory: String, owner: UInt32 = geteuid(), now: Date, onEvents: @escaping @Sendable ([Event]) -> Void
  ) throws(StoreError) {
    let file = DatabaseFile(directory: directory, owner: owner)
    guard mkdir(directory, 0o700) == 0 || errno == EEXIST else {
      throw .io("cannot create \(directory): \(String(cString: strerror(errno)))")
    }
    rewriteFailure = try file.prepare(storeID: randomToken(), now: now)
    path = file.path
    let isScrubbed: Bool
    do {
      pool = try DatabasePool(path: path, configuration: DatabaseFile.configuration)
      // GRDB asks for NORMAL while opening, which may lose commits in a power cut.
      try pool.writeWithoutTransaction { db in try db.execute(sql: "PRAGMA synchronous = FULL") }
      try Migrations.migrator(owner: owner).migrate(pool)
      // What was erased before a crash is still in the WAL.
      isScrubbed = (try? pool.writeWithoutTransaction { db in try db.checkpoint(.truncate) }) != nil
      guard let id = try pool.writeWithoutTransaction(Meta.storeID) else {
        throw StoreError.damaged(path: path, reason: "it has lost its own name")
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

  /// Finishes what was handed in, moves the WAL into the database, closes. Later calls of any verb throw
  /// `closed`.
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
    // Readers first: the last connection to go takes the WAL's files away, which a reader cannot.
    readers.close()
    try? pool.close()
  }

  /// Empties caches, without waiting for anybody.
  public func releaseMemory() {
    queue.releaseMemory()
    readers.releaseMemory()
  }

  /// Reads a consistent state, beside the writing.
  func read<Value: Sendable>(
    _ body: @escaping @Sendable (Database) throws -> Value
  ) async throws(StoreError) -> Value {
    guard !queue.isClosed else { throw .closed }
    return try await readers.read(body)
  }
}
