public import FoundationEssentials
import GRDB
public import TransferAPI
import WireValues

extension Store {
  /// The first directory that a running listing has not done, after another one.
  /// - Parameter last: the id of a directory; 0 for the first one.
  /// - Returns: `nil`: there is none.
  /// - Throws: `notFound` if the job does not run under this fence.
  public func nextDirectory(
    of job: JobID, fence: Int64, after last: Int64
  ) async throws(StoreError) -> ListingDirectory? {
    try await queue.run { transaction in
      try transaction.requireListing(job, fence)
      try transaction.run("INSERT OR IGNORE INTO listing_directory (job, path) VALUES (:job, '')") { $0("job", job) }
      return try transaction.row(
        """
        SELECT id, path, page FROM listing_directory INDEXED BY listing_directory_open
        WHERE job = :job AND is_done = 0 AND id > :last ORDER BY id LIMIT 1
        """
      ) { bind in
        bind("job", job)
        bind("last", last)
      } read: { row in
        ListingDirectory(
          id: try row.optionalInt64("id") ?? 0, path: try row.text("path"), page: try row.optionalText("page"))
      }
    }
  }

  /// Stores what a listing has read: new jobs, new directories, and how far the directory is done, in one transaction. A file
  /// that the listing has added before is not added again. Durable when this returns.
  /// - Returns: the new jobs, and the number of files that another unfinished download writes.
  /// - Throws: `notFound` if the job does not run under this fence: then nothing is stored.
  public func store(
    _ step: ListingStep, at now: Date
  ) async throws(StoreError) -> (added: [Submission], taken: Int) {
    let path = path
    let rows: [NewRow]
    do { rows = try NewRow.rows(step.files) } catch { throw StoreError(error, path: path) }
    return try await queue.run(weight: step.files.count + step.directories.count + 1) { transaction in
      try transaction.requireListing(step.job, step.fence)
      for directory in step.directories {
        try transaction.run("INSERT OR IGNORE INTO listing_directory (job, path) VALUES (:job, :path)") { bind in
          bind("job", step.job)
          bind("path", directory)
        }
      }
      // A job whose window is closed is not claimed; the next look at the windows takes it out of the queue.
      var insertion = Insertion(now: now, scope: .owner(step.files.first?.owner ?? 0), closedWindows: [:])
      var (added, taken): ([Submission], Int) = ([], 0)
      for row in rows {
        do {
          let submission = try insertion.insert(row, &transaction)
          if !submission.existing { added.append(submission) }
        } catch StoreError.destinationTaken {
          taken += 1  // checked: at most the number of files
        }
      }
      try insertion.finish(transaction)
      if let end = step.end { try transaction.end(step.directory, end, taken: taken) }
      return (added, taken)
    }
  }

  /// What the listing has found in the directories and pages that it has done.
  public func listingSums(of job: JobID) async throws(StoreError) -> ListingSums {
    try await read { db in
      let sql = """
        SELECT count(*) AS directories, total(files) AS files, total(refused) AS refused FROM listing_directory
        WHERE job = :job AND is_done = 1
        """
      return try db.row(sql) { bind in
        bind("job", job)
      } read: { row in
        var sums = ListingSums()
        sums.directories = try row.int("directories")
        sums.files = CheckedNumber(rounding: try row.optionalDouble("files") ?? 0).int ?? .max
        sums.refused = CheckedNumber(rounding: try row.optionalDouble("refused") ?? 0).int ?? .max
        return sums
      } ?? ListingSums()
    }
  }
}

extension Transaction {
  fileprivate func requireListing(_ job: JobID, _ fence: Int64) throws {
    let found = try row("SELECT id FROM job WHERE id = :id AND fence = :fence AND state = 'running'") { bind in
      bind("id", job)
      bind("fence", fence)
    } read: {
      try $0.jobID("id")
    }
    if found == nil { throw StoreError.notFound(job) }
  }

  fileprivate func end(_ directory: Int64, _ end: ListingStep.End, taken: Int) throws {
    try run(
      """
      UPDATE listing_directory SET is_done = :is_done, page = :page, files = files + :files, refused = refused + :refused
      WHERE id = :id
      """
    ) { bind in
      bind("is_done", end.page == nil)
      bind("page", end.page)
      bind("files", Swift.max(0, end.files.saturatingSum(-taken)))
      bind("refused", end.refused.saturatingSum(taken))
      bind("id", directory)
    }
  }

  /// The job that a listing has added for a destination; `nil`: there is none.
  func listedJob(_ listing: JobID, _ destination: String) throws -> Submission? {
    try row("SELECT id, state FROM job INDEXED BY job_listing WHERE listing = :listing AND destination = :destination")
    { bind in
      bind("listing", listing)
      bind("destination", destination)
    } read: { row in
      Submission(id: try row.jobID("id"), existing: true, state: try row.word("state"))
    }
  }

  /// The id that the next job gets.
  func nextJobID() throws -> JobID {
    let last = try db.lastID(in: "job")
    return JobID(try (CheckedNumber(last) + 1).orThrow(RowReader.Unreadable(description: "the ids of jobs have ended")))
  }
}

extension Database {
  /// The last id that SQLite gave to a row of the table, which may be gone; 0: it had none.
  func lastID(in table: String) throws -> Int64 {
    try row("SELECT seq FROM sqlite_sequence WHERE name = :table") {
      $0("table", table)
    } read: {
      try $0.int64("seq")
    } ?? 0
  }
}
