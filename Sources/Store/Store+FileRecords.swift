public import FoundationEssentials
import GRDB
import TransferAPI

/// A stored record of a file: which version of a URL is at a path. What it says is opaque to the store.
public struct StoredFileRecord: Equatable, Sendable {
  public var path: String
  /// Without secrets.
  public var url: String
  /// The uid of the user whose job has made the record. No other user's job reads it.
  public var owner: UInt32
  public var record: Data
}

extension Store {
  /// The most records that are kept: some 300 MiB.
  public static let maximumFileRecords = 1_000_000
  /// Time after which a record that no job has used may be deleted, if its file is gone.
  public static let fileRecordLifetime: TimeInterval = 90 * 86400
  /// A record that is used again gets a new time only if its time is older than this, in milliseconds: so a job that finds its
  /// file unchanged writes nothing here.
  static let fileRecordResolution: Int64 = 86_400_000

  /// One page of the records that no job has used since a time, in the order of their keys.
  /// - Parameters:
  ///   - after: the last record of the page before; `nil` for the first page.
  ///   - scanned: the most records that are examined.
  /// - Returns: the records, and the last one that was examined; `nil` if there are no more.
  public func unusedFileRecords(
    since limit: Date, after last: StoredFileRecord?, scanned: Int = 500
  ) async throws(StoreError) -> (unused: [StoredFileRecord], last: StoredFileRecord?) {
    try await read { db in
      var unused: [StoredFileRecord] = []
      var end: StoredFileRecord?
      let sql = """
        SELECT path, url, owner, record, used_at FROM file_record
        WHERE (path, url, owner) > (:path, :url, :owner) ORDER BY path, url, owner LIMIT :limit
        """
      try db.each(sql) { bind in
        bind("path", last?.path ?? "")
        bind("url", last?.url ?? "")
        bind("owner", last?.owner ?? 0)
        bind("limit", scanned)
      } body: { row in
        let record = StoredFileRecord(
          path: try row.text("path"), url: try row.text("url"), owner: try row.uid("owner"),
          record: try row.optionalData("record") ?? Data())
        end = record
        if try row.int64("used_at") < limit.milliseconds { unused.append(record) }
        return true
      }
      return (unused, end)
    }
  }

  /// Deletes records, unless they have changed since they were read.
  public func removeFileRecords(_ records: [StoredFileRecord]) async throws(StoreError) -> Int {
    guard !records.isEmpty else { return 0 }
    return try await queue.run(weight: records.count) { transaction in
      var removed = 0
      for record in records {
        try transaction.run(
          "DELETE FROM file_record WHERE path = :path AND url = :url AND owner = :owner AND record = :record"
        ) { bind in
          bind("path", record.path)
          bind("url", record.url)
          bind("owner", record.owner)
          bind("record", record.record)
        }
        removed += transaction.db.changesCount  // checked: one row at most, by its key
      }
      return removed
    }
  }

  /// Deletes the records that were not used for the longest time, so that at most this many remain. A run of many jobs may
  /// exceed the limit until then.
  /// - Returns: the number of deleted records. Call it again until it is 0.
  public func limitFileRecords(to maximum: Int = Store.maximumFileRecords) async throws(StoreError) -> Int {
    let oldest: Int64? = try await read { db in
      guard let count = try Int.fetchOne(db, sql: "SELECT count(*) FROM file_record"), count > maximum else {
        return nil
      }
      return try Int64.fetchOne(
        db, sql: "SELECT used_at FROM file_record ORDER BY used_at LIMIT 1 OFFSET \(count - maximum - 1)")
    }
    guard let oldest else { return 0 }
    return try await queue.run(weight: Self.pruneStep) { transaction in
      try transaction.run(
        """
        DELETE FROM file_record WHERE (path, url, owner) IN (
          SELECT path, url, owner FROM file_record WHERE used_at <= :oldest LIMIT :limit)
        """
      ) { bind in
        bind("oldest", oldest)
        bind("limit", Self.pruneStep)
      }
      return transaction.db.changesCount
    }
  }
}

extension Transaction {
  /// The record of the file that a job would replace; `nil`: there is none.
  func fileRecord(of job: JobRecord) throws -> Data? {
    try row("SELECT record FROM file_record WHERE path = :path AND url = :url AND owner = :owner") { bind in
      bind("path", job.spec.destination)
      bind("url", Self.recordURL(of: job.spec))
      bind("owner", job.spec.owner)
    } read: {
      try $0.optionalData("record") ?? nil
    } ?? nil
  }

  /// The URL of a record: that of the job's row, without the mark for its secrets and without a fragment.
  private static func recordURL(of spec: JobSpec) -> String {
    String(JobSpec.split(url: spec.url).open.prefix { $0 != "#" })
  }

  /// Stores what is known of a job's file. Writes nothing if it is known already.
  func storeFileRecord(_ record: Data, of id: JobID, at now: Date) throws {
    try run(
      """
      INSERT INTO file_record (path, url, owner, record, used_at)
        SELECT destination, CASE instr(source, '#') WHEN 0 THEN source ELSE substr(source, 1, instr(source, '#') - 1) END,
          owner, :record, :now
        FROM job WHERE id = :id
      ON CONFLICT (path, url, owner) DO UPDATE SET record = excluded.record, used_at = excluded.used_at
        WHERE record <> excluded.record OR used_at < excluded.used_at - :resolution OR used_at > excluded.used_at
      """
    ) { bind in
      bind("record", record)
      bind("now", now)
      bind("id", id)
      bind("resolution", Store.fileRecordResolution)
    }
  }
}
