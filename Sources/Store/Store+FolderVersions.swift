public import FoundationEssentials
import GRDB

extension Store {
  /// For how long a version is remembered after its file has gone. A file system that is not mounted for some days does not make
  /// its files new ones.
  public static let goneVersionsAreKept = 30 * 86400.0

  private struct NotedVersion {
    var version: FileVersion
    var goneAt: Date?
  }

  /// Compares the noted versions of a folder with the files that are there, and forgets those whose files have been gone for
  /// ``goneVersionsAreKept``: called once a day, it bounds the table by what lands in that time. Durable when this returns; a
  /// kill in the middle leaves the rest to the next call.
  /// - Returns: how many versions are forgotten.
  @discardableResult
  public func forgetGoneVersions(
    of folder: Int64, present: Set<FileVersion>, now: Date
  ) async throws(StoreError) -> Int {
    var forgotten = 0
    var last = FileVersion(path: "", size: 0, modified: 0)
    while true {
      let page = try await notedVersions(of: folder, after: last)
      guard let end = page.last else { return forgotten }
      last = end.version
      let changes = GoneVersions(page.map { ($0.version, $0.goneAt) }, present: present, now: now)
      guard !changes.isEmpty else { continue }
      try await write(changes, of: folder, now: now)
      forgotten += changes.forgotten.count  // checked: rows of the table
    }
  }

  private func notedVersions(of folder: Int64, after last: FileVersion) async throws(StoreError) -> [NotedVersion] {
    try await read { db in
      try db.rows(
        """
        SELECT path, size, modified, gone_at FROM folder_file
        WHERE folder = :folder AND (path, size, modified) > (:path, :size, :modified)
        ORDER BY path, size, modified LIMIT 2000
        """
      ) { bind in
        bind.version(last, of: folder)
      } read: { row in
        NotedVersion(
          version: FileVersion(
            path: try row.text("path"), size: try row.int64("size"), modified: try row.int64("modified")),
          goneAt: try row.optionalDate("gone_at"))
      }
    }
  }

  private func write(_ changes: GoneVersions, of folder: Int64, now: Date) async throws(StoreError) {
    let weight = changes.count
    try await queue.run(weight: weight) { transaction in
      func run(_ sql: StaticString, _ versions: [FileVersion], at time: Date? = nil) throws {
        for version in versions {
          try transaction.run(sql) { bind in
            if let time { bind("now", time) }
            bind.version(version, of: folder)
          }
        }
      }
      try run(
        """
        UPDATE folder_file SET gone_at = :now
        WHERE folder = :folder AND path = :path AND size = :size AND modified = :modified
        """, changes.gone, at: now)
      try run(
        """
        UPDATE folder_file SET gone_at = NULL
        WHERE folder = :folder AND path = :path AND size = :size AND modified = :modified
        """, changes.returned)
      try run(
        "DELETE FROM folder_file WHERE folder = :folder AND path = :path AND size = :size AND modified = :modified",
        changes.forgotten)
    }
  }
}

extension ParameterBinder {
  /// Binds `:folder`, `:path`, `:size` and `:modified`.
  mutating func version(_ version: FileVersion, of folder: Int64) {
    self("folder", folder)
    self("path", version.path)
    self("size", version.size)
    self("modified", version.modified)
  }
}

/// What a look at the files says about noted versions.
struct GoneVersions: Equatable {
  /// Gone since now.
  private(set) var gone: [FileVersion] = []
  /// There again.
  private(set) var returned: [FileVersion] = []
  /// Gone for long enough.
  private(set) var forgotten: [FileVersion] = []

  init(_ noted: [(version: FileVersion, goneAt: Date?)], present: Set<FileVersion>, now: Date) {
    for (version, goneAt) in noted {
      switch (present.contains(version), goneAt) {
      case (true, nil): break
      case (true, _?): returned.append(version)
      case (false, nil): gone.append(version)
      case (false, let since?):
        let age = now.timeIntervalSince(since)
        // The clock was set back: it counts from now on.
        if age < 0 { gone.append(version) } else if age >= Store.goneVersionsAreKept { forgotten.append(version) }
      }
    }
  }

  var count: Int { gone.count + returned.count + forgotten.count }  // checked: rows of a page
  var isEmpty: Bool { count == 0 }
}
