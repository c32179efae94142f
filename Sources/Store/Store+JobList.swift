import FoundationEssentials
import GRDB
public import TransferAPI

extension Store {
  /// A page of a list.
  public struct JobListPage: Sendable {
    public var jobs: [ListedJob]
    /// Where the next page begins; `nil` if this is the last one.
    public var next: JobListCursor?
  }

  /// One page of the jobs in scope as clients see them. Cheaper than records: secrets and what only the daemon needs are not
  /// read.
  /// - Parameters:
  ///   - state: `nil`: any.
  ///   - batch: `nil`: any or none.
  ///   - cursor: `nil` for the first page.
  ///   - limit: the most jobs of the page.
  public func jobList(
    state: JobState? = nil, batch: BatchID? = nil, order: JobOrder, from cursor: JobListCursor? = nil, limit: Int,
    in scope: Scope
  ) async throws(StoreError) -> JobListPage {
    guard limit > 0 else { return JobListPage(jobs: [], next: nil) }
    return try await read { db in
      let query = JobListQuery(state: state, batch: batch, order: order, in: scope)
      let (ids, next) = try query.page(db, from: cursor, limit: limit)
      var rows = try JobListRows(db, in: scope)
      return JobListPage(jobs: try rows.jobs(ids), next: next)
    }
  }

  /// The jobs among `ids` that exist in scope, in the order of `ids`, as clients see them.
  public func jobList(ids: [JobID], in scope: Scope) async throws(StoreError) -> [(job: ListedJob, batch: BatchID?)] {
    try await values(of: ids, in: scope) { record in
      (
        job: ListedJob(job: record.job, waitFacts: record.waitFacts),
        batch: record.job.batch.map { BatchID(owner: record.spec.owner, name: $0) }
      )
    }
  }
}

/// Reads rows as `Job`.
struct JobListRows {
  private let db: Database
  private let scope: Scope
  private let find: PreparedStatement
  /// The jobs of a batch usually have the same options: they are decoded once.
  private var last: (text: String?, options: JobOptions) = (nil, JobOptions())
  private var origins: [Int64: String] = [:]

  init(_ db: Database, in scope: Scope) throws {
    self.db = db
    self.scope = scope
    find = try PreparedStatement(db, Self.sql)
  }

  private static let sql = """
    SELECT id, kind, state, source, destination, secret IS NULL AS is_open, options, batch, key, priority, owner, bytes_done, bytes_total, \
    origin_id, waits_until, open_dependencies, \(Database.firstDependency), blocked_by, crash_marks, attempt, retry_at, created_at, started_at, finished_at, error_code, error_message, error_status, error_transient, \
    action_state, action_message, result, phase FROM job WHERE id = :id
    """

  mutating func jobs(_ ids: [JobID]) throws -> [ListedJob] {
    var jobs: [ListedJob] = []
    jobs.reserveCapacity(ids.count)
    let find = find
    for id in ids {
      let found = try find.row(id: id.rawValue) { row in
        try job(id, &row)
      }
      guard let (job, isOpen) = found else { continue }
      // The URL of a job with a secret must be put together before it can be shown.
      if isOpen {
        jobs.append(job)
      } else if let record = try JobRecord.fetch(db, id: id, in: scope) {
        jobs.append(ListedJob(job: record.job, waitFacts: record.waitFacts))
      }
    }
    return jobs
  }

  private mutating func job(_ id: JobID, _ row: inout RowReader) throws -> (job: ListedJob, isOpen: Bool) {
    row.subject = "job \(id)"
    var job = Job(
      id: id, kind: try row.word("kind"), state: try row.word("state"), source: try row.text("source"),
      destination: try row.text("destination"), maxAttempts: 0, createdAt: Date(timeIntervalSince1970: 0))
    let isOpen = try row.bool("is_open")
    let options = try options(&row)
    job.maxAttempts = options.maxAttempts ?? JobOptions.standardMaxAttempts
    job.checksum = options.download.checksum
    job.batch = try row.optionalText("batch")
    job.key = try row.optionalText("key")
    job.priority = try row.int("priority")
    job.bytesDone = try row.int64("bytes_done")
    job.bytesTotal = try row.optionalInt64("bytes_total")
    job.attempt = try row.int("attempt")
    job.retryAt = try row.optionalDate("retry_at")
    job.createdAt = try row.date("created_at")
    job.startedAt = try row.optionalDate("started_at")
    job.finishedAt = try row.optionalDate("finished_at")
    job.error = try row.failure()
    if let state: FileAction.State = try row.optionalWord("action_state") {
      job.action = FileAction(state: state, message: try row.optionalText("action_message"))
    }
    let result: JobResult? = try row.optionalWord("result")
    if job.state == .completed { job.result = result ?? .transferred }
    job.phase = try row.optionalWord("phase")
    return (ListedJob(job: job, waitFacts: try waitFacts(job, &row)), isOpen)
  }

  private mutating func waitFacts(_ job: Job, _ row: inout RowReader) throws -> WaitFacts? {
    guard job.state == .queued || job.state == .retrying else { return nil }
    let owner = try row.uid("owner")
    return WaitFacts(
      origin: try origin(try row.int64("origin_id")), batch: job.batch.map { BatchID(owner: owner, name: $0) },
      waitsUntil: try row.optionalDate("waits_until"), window: last.options.schedule.window,
      openDependencies: try row.int("open_dependencies"), firstDependency: try row.dependency("first_dependency"),
      isBlocked: try row.optionalJobID("blocked_by") != nil,
      runsAlone: try row.int("crash_marks") >= JobRecord.marksToRunAlone)
  }

  private mutating func origin(_ id: Int64) throws -> String {
    if let name = origins[id] { return name }
    let name = try db.originName(id)
    origins[id] = name
    return name
  }

  private mutating func options(_ row: inout RowReader) throws -> JobOptions {
    let text = try row.optionalText("options")
    if text != last.text { last = (text, try text.map { try OptionText.options(of: $0) } ?? JobOptions()) }
    return last.options
  }
}
