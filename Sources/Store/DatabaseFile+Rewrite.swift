import FoundationEssentials
import GRDB
import Glibc

extension DatabaseFile {
  /// Rewrites a database of an earlier release, once. Its unused space still contains secrets of changed or removed
  /// jobs, and only a rewrite erases them (`SecretPack` says why).
  ///
  /// The new file gets another name first and is then renamed, as in `create`. After a crash, either the old or the new
  /// file is there, and it is complete.
  /// - Throws: if there is no space for both files. The file then has the new schema, and is otherwise as it was.
  func rewrite() throws {
    let (draft, descriptor) = try openDraft()
    defer { close(descriptor) }
    let queue = try DatabaseQueue(path: path, configuration: Self.configuration)
    do {
      try Migrations.migrator(owner: owner).migrate(queue)
      try queue.writeWithoutTransaction { db in
        // The old file's WAL must not stay beside the new file.
        _ = try db.checkpoint(.truncate)
        try db.execute(sql: "VACUUM INTO ?", arguments: [draft])
      }
      try finish(queue)
      let copy = try DatabaseQueue(path: draft, configuration: Self.configuration)
      try copy.write(Meta.noteRewritten)
      try copy.writeWithoutTransaction { db in _ = try String.fetchOne(db, sql: "PRAGMA journal_mode = WAL") }
      try finish(copy)
    } catch {
      try? finish(queue)
      unlink(draft)
      throw error
    }
    // The last connection deletes these files. A program that still has them open would use them with the old file, and this
    // one with the new file.
    guard Status(path: path + "-wal") == nil, Status(path: path + "-shm") == nil else {
      unlink(draft)
      throw StoreError.io("another program has \(path) open")
    }
    try putInPlace(draft, descriptor)
  }

  /// Creates an empty file beside the database's own, in place of what an earlier start may have left there.
  func openDraft() throws(StoreError) -> (path: String, descriptor: Int32) {
    let draft = path + ".new"
    for suffix in ["", "-wal", "-shm", "-journal"] { unlink(draft + suffix) }
    let descriptor = open(draft, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
    guard descriptor >= 0 else { throw creationError() }
    return (draft, descriptor)
  }

  /// Renames a finished draft to the database's name, and makes that durable.
  func putInPlace(_ draft: String, _ descriptor: Int32) throws(StoreError) {
    guard fsync(descriptor) == 0, rename(draft, path) == 0 else { throw creationError() }
    let parent = open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    guard parent >= 0 else { throw creationError() }
    defer { close(parent) }
    guard fsync(parent) == 0 else { throw creationError() }
  }
}
