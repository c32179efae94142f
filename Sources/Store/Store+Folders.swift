public import FoundationEssentials
import GRDB
public import TransferAPI

extension Store {
  /// A stored folder, and whether its first scan still has to note the files that it passes over.
  public struct StoredFolder: Equatable, Sendable {
    public var folder: WatchedFolder
    public var needsBaseline: Bool
  }

  /// Durable when this returns.
  /// - Parameters:
  ///   - most: how many folders there may be then.
  ///   - own: how many folders the owner may have then.
  /// - Returns: `nil` if there are too many already.
  public func addFolder(
    _ folder: NewFolder, owner: UInt32, at now: Date, most: Int = .max, own: Int = .max
  ) async throws(StoreError) -> StoredFolder? {
    let request: String
    do {
      request = String(decoding: try WireCoding.encoder().encode(folder), as: UTF8.self)
    } catch {
      throw .io("cannot encode the folder: \(error)")
    }
    let id = try await queue.run { transaction -> Int64? in
      let counts = try transaction.row(
        "SELECT count(*) AS folders, count(*) FILTER (WHERE owner = :owner) AS own FROM folder"
      ) { bind in
        bind("owner", owner)
      } read: {
        (folders: try $0.int("folders"), own: try $0.int("own"))
      }
      guard let counts, counts.folders < most, counts.own < own else { return nil }
      try transaction.run(
        "INSERT INTO folder (owner, request, created_at, baseline) VALUES (:owner, :request, :now, :baseline)"
      ) { bind in
        bind("owner", owner)
        bind("request", request)
        bind("now", now)
        bind("baseline", folder.newOnly)
      }
      return transaction.db.lastInsertedRowID
    }
    guard let id else { return nil }
    return StoredFolder(
      folder: WatchedFolder(id: id, folder: folder, owner: owner, createdAt: Date(milliseconds: now.milliseconds)),
      needsBaseline: folder.newOnly)
  }

  /// All folders in scope, oldest first. A folder whose request this release cannot read is left out.
  public func folders(in scope: Scope) async throws(StoreError) -> [StoredFolder] {
    try await read { db in
      let rows = try db.rows(
        "SELECT id, owner, request, created_at, baseline, uploads FROM folder ORDER BY id"
      ) { row -> StoredFolder? in
        let request = Data(try row.text("request").utf8)
        guard let folder = try? WireCoding.decoder().decode(NewFolder.self, from: request) else { return nil }
        return StoredFolder(
          folder: WatchedFolder(
            id: try row.int64("id"), folder: folder, owner: try row.uid("owner"), createdAt: try row.date("created_at"),
            uploads: try row.int("uploads")),
          needsBaseline: try row.bool("baseline"))
      }
      return rows.compactMap { $0 }.filter { scope.includes($0.folder.owner) }
    }
  }

  /// Forgets a folder. Its jobs stay.
  /// - Returns: `false` if there is none in scope.
  public func removeFolder(_ id: Int64, in scope: Scope) async throws(StoreError) -> Bool {
    try await queue.run(weight: 100) { transaction in
      let owner = try transaction.row("SELECT owner FROM folder WHERE id = :id", id: id) { try $0.uid("owner") }
      guard let owner, scope.includes(owner) else { return false }
      try transaction.run("DELETE FROM folder WHERE id = :id") { $0("id", id) }
      try transaction.run("DELETE FROM folder_file WHERE folder = :id") { $0("id", id) }
      return true
    }
  }

  /// Which of these versions became uploads or are passed over.
  public func knownVersions(_ versions: [FileVersion], of folder: Int64) async throws(StoreError) -> Set<FileVersion> {
    try await read { db in
      let statement = try PreparedStatement(
        db,
        """
        SELECT 1 AS known FROM folder_file
        WHERE folder = :folder AND path = :path AND size = :size AND modified = :modified
        """)
      var known: Set<FileVersion> = []
      for version in versions {
        let isKnown = try statement.row { bind in
          bind.version(version, of: folder)
        } read: {
          try $0.bool("known")
        }
        if isKnown == true { known.insert(version) }
      }
      return known
    }
  }

  /// Notes versions that became uploads, each with its job, or that are passed over. Durable when this returns.
  /// - Returns: `false`, without any change, if the folder was removed.
  @discardableResult
  public func note(
    _ versions: [(version: FileVersion, job: JobID?)], of folder: Int64
  ) async throws(StoreError) -> Bool {
    try await queue.run(weight: versions.count) { transaction in
      let isThere = try transaction.row("SELECT 1 AS found FROM folder WHERE id = :id", id: folder) {
        try $0.bool("found")
      }
      guard isThere == true else { return false }
      var uploads = 0
      for (version, job) in versions {
        try transaction.run(
          """
          INSERT INTO folder_file (folder, path, size, modified, job) VALUES (:folder, :path, :size, :modified, :job)
          ON CONFLICT DO NOTHING
          """
        ) { bind in
          bind.version(version, of: folder)
          bind("job", job?.rawValue)
        }
        if job != nil, transaction.db.changesCount > 0 { uploads += 1 }  // checked: at most the given versions
      }
      try transaction.run("UPDATE folder SET uploads = uploads + :uploads WHERE id = :id") { bind in
        bind("uploads", uploads)
        bind("id", folder)
      }
      return true
    }
  }

  /// The files that were there when the folder was added are noted.
  public func endBaseline(of folder: Int64) async throws(StoreError) {
    try await queue.run { transaction in
      try transaction.run("UPDATE folder SET baseline = 0 WHERE id = :id") { $0("id", folder) }
    }
  }
}
