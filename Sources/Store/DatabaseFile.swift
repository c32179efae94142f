import FoundationEssentials
import GRDB
import Glibc
import Synchronization
import WireValues

/// The database's files. They are examined before anything is opened for writing, so that a file that cannot be used stays as
/// it is, byte for byte.
struct DatabaseFile {
  let directory: String
  /// The daemon's uid.
  let owner: UInt32
  var freeBytes: @Sendable (String) -> Int64? = DiskSpace.free
  /// Called before the database of an earlier release is changed.
  var willMigrate: @Sendable (PendingMigration) -> Void = { _ in }
  var path: String { directory + "/transferd.db" }

  /// Files below this size are checked completely at every start; larger ones only after an end that may have damaged them.
  static let alwaysCheckedBytes: Int64 = 64 << 20

  /// Seconds that a connection waits for a lock.
  static let busyTimeout = 5

  /// The pragmas of every connection. `synchronous` is set once the pool is open: GRDB sets it while opening.
  static var configuration: Configuration {
    var configuration = Configuration()
    configuration.busyMode = .timeout(Double(busyTimeout))
    configuration.foreignKeysEnabled = true
    configuration.label = "transferd.store"
    configuration.prepareDatabase { db in
      // Debian builds SQLite with secure_delete on: every freed page would be written once more.
      try db.execute(
        sql: """
          PRAGMA secure_delete = OFF; PRAGMA mmap_size = 0; PRAGMA temp_store = MEMORY;
          PRAGMA cache_size = -16000; PRAGMA journal_size_limit = 67108864; PRAGMA trusted_schema = OFF;
          PRAGMA cell_size_check = ON; PRAGMA wal_autocheckpoint = 4000
          """)
    }
    return configuration
  }

  /// Creates a missing database, otherwise makes sure that it can be used.
  /// - Throws: `newerVersion`, `noSpaceToMigrate`, `damaged`, `readOnly`, `io`; the files are then as they were.
  /// - Returns: why a database of an earlier release could not be rewritten (`rewrite`); `nil` if it was rewritten, or
  ///   did not need it.
  func prepare(storeID: String, now: Date) throws(StoreError) -> String? {
    let status = Status(path: path)
    let wal = Status(path: path + "-wal")
    guard let status else {
      if wal != nil {
        throw .damaged(path: path, reason: "it is missing, though its \(path)-wal is there")
      }
      try create(storeID: storeID, now: now)
      return nil
    }
    guard status.isWritable, wal?.isWritable ?? true else { throw .readOnly(path: path) }
    guard access(directory, W_OK) == 0 else { throw .readOnly(path: directory) }
    try checkHeader()
    let findings = try look(size: status.size)
    if let migration = findings.migration {
      // checked: sizes of files
      try checkSpace(for: status.size + (wal?.size ?? 0))
      willMigrate(migration)
    }
    // -wal and -shm get the same mode from SQLite.
    guard chmod(path, 0o600) == 0 else { throw .io("\(path): \(systemError())") }
    guard !findings.isRewritten else { return nil }
    do {
      try rewrite()
      return nil
    } catch {
      // The jobs are usable without the rewrite; the next start attempts it again.
      return "\(StoreError(error, path: path))"
    }
  }

  /// A migration writes the new table and its indexes to the WAL, and then to the file, which still contains the old
  /// ones.
  private func checkSpace(for bytes: Int64) throws(StoreError) {
    let needed = (CheckedNumber(bytes) * 2 + (16 << 20)).value ?? .max
    guard let free = freeBytes(directory), free < needed else { return }
    throw .noSpaceToMigrate(path: path, neededBytes: needed, freeBytes: free)
  }

  // MARK: - Look

  private struct Findings {
    /// `rewrite` is done, or was never needed.
    var isRewritten = false
    /// `nil`: the schema is this release's.
    var migration: PendingMigration?
  }

  /// Checks the first 100 bytes. https://sqlite.org/fileformat.html#the_database_header
  private func checkHeader() throws(StoreError) {
    let descriptor = open(path, O_RDONLY | O_CLOEXEC)
    guard descriptor >= 0 else { throw .io("\(path): \(systemError())") }
    defer { close(descriptor) }
    var header = [UInt8](repeating: 0, count: 100)
    let count = header.withUnsafeMutableBytes { pread(descriptor, $0.baseAddress, 100, 0) }
    guard count >= 0 else { throw .io("\(path): \(systemError())") }
    guard count == 100, header.starts(with: Array("SQLite format 3\0".utf8)) else {
      throw .damaged(path: path, reason: "it is not a database")
    }
    func number(at offset: Int) -> Int32 {
      // checked: the header has 100 bytes
      Int32(bitPattern: header[offset..<offset + 4].reduce(0) { $0 << 8 | UInt32($1) })
    }
    guard number(at: 68) == Migrations.applicationID else {
      throw .damaged(path: path, reason: "it is a database of another program")
    }
    guard number(at: 60) <= Migrations.version else { throw .newerVersion(path: path) }
  }

  /// Reads the database, including the part in its WAL, through a connection that cannot write. Such a connection may
  /// still create or change the -shm, a cache, and create an empty -wal: both are restored.
  private func look(size: Int64) throws(StoreError) -> Findings {
    let hadLog = Status(path: path + "-wal") != nil
    let index = Status(path: path + "-shm") == nil ? nil : contents(of: path + "-shm")
    var refusal: StoreError?
    var findings = Findings()
    do {
      findings = try readOnly(size: size)
    } catch {
      refusal = StoreError(error, path: path)
    }
    if !hadLog { unlink(path + "-wal") }
    if index == nil { unlink(path + "-shm") }
    guard let refusal else { return findings }
    if let index { overwrite(path + "-shm", with: index) }
    throw refusal
  }

  private func readOnly(size: Int64) throws -> Findings {
    var configuration = Self.configuration
    configuration.readonly = true
    let queue = try DatabaseQueue(path: path, configuration: configuration)
    let findings = try queue.read { db in
      let version = try Int32.fetchOne(db, sql: "PRAGMA user_version") ?? 0
      guard version <= Migrations.version, try !Migrations.migrator(owner: owner).hasBeenSuperseded(db) else {
        throw StoreError.newerVersion(path: path)
      }
      let isSafe = try Meta.wasClosed(db) || Meta.bootID(db) == Meta.currentBootID()
      var findings = Findings(isRewritten: try Meta.isRewritten(db))
      if version < Migrations.version {
        let jobs = try Int.fetchOne(db, sql: "SELECT count(*) FROM job") ?? 0
        findings.migration = PendingMigration(from: version, to: Migrations.version, jobs: jobs)
      }
      guard size < Self.alwaysCheckedBytes || !isSafe else { return findings }
      let verdict = try String.fetchOne(db, sql: "PRAGMA quick_check(1)") ?? "no answer"
      guard verdict == "ok" else {
        throw StoreError.damaged(path: path, reason: "it is damaged (\(verdict.replacing("\n", with: " ")))")
      }
      return findings
    }
    try finish(queue)
    return findings
  }

  /// Closes the connection, but never frees its queue: libdispatch would free the queue on one of its own threads,
  /// which starts more threads and a timer (GlobalExecutor).
  func finish(_ queue: DatabaseQueue) throws {
    try queue.close()
    Self.closed.withLock { $0.append(queue) }
  }

  private static let closed = Mutex<[DatabaseQueue]>([])

  private func contents(of path: String) -> Data? { try? Data(contentsOf: URL(filePath: path)) }

  private func overwrite(_ path: String, with data: Data) {
    let descriptor = open(path, O_WRONLY | O_TRUNC | O_CLOEXEC)
    guard descriptor >= 0 else { return }
    defer { close(descriptor) }
    _ = data.withUnsafeBytes { pwrite(descriptor, $0.baseAddress, $0.count, 0) }
  }

  // MARK: - Create

  /// Builds the database under another name and renames it when it is complete: there is never an empty or incomplete
  /// `transferd.db`.
  private func create(storeID: String, now: Date) throws(StoreError) {
    let (draft, descriptor) = try openDraft()
    defer { close(descriptor) }
    do {
      let queue = try DatabaseQueue(path: draft, configuration: Self.configuration)
      try queue.writeWithoutTransaction { db in try db.execute(sql: "PRAGMA synchronous = OFF") }
      try Migrations.migrator(owner: owner).migrate(queue)
      try queue.write { db in try Meta.create(db, storeID: storeID, now: now) }
      try queue.writeWithoutTransaction { db in _ = try String.fetchOne(db, sql: "PRAGMA journal_mode = WAL")
      }
      try finish(queue)
    } catch {
      throw StoreError(error, path: path)
    }
    try putInPlace(draft, descriptor)
  }

  func creationError() -> StoreError {
    switch errno {
    case ENOSPC, EDQUOT: .diskFull(path: path)
    case EROFS, EACCES, EPERM: .readOnly(path: path)
    default: .io("cannot create \(path): \(systemError())")
    }
  }

  private func systemError() -> String { String(cString: strerror(errno)) }
}
