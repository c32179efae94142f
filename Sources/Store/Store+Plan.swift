import GRDB
public import TransferAPI

/// A waiting job, with what decides when it may begin.
public struct PlannedJob: Equatable, Sendable {
  /// What has to end before the job begins.
  public enum Obstacle: Hashable, Sendable {
    case job(JobID)
    case batch(BatchID)
  }

  public var job: Job
  public var owner: UInt32
  public var facts: WaitFacts
  public var obstacles: [Obstacle] = []
  /// The job's own limit, in bytes a second.
  public var limitRate: Int64?

  public init(job: Job, owner: UInt32, facts: WaitFacts, obstacles: [Obstacle] = []) {
    self.job = job
    self.owner = owner
    self.facts = facts
    self.obstacles = obstacles
  }
}

/// What a plan is made of.
public struct PlanFacts: Equatable, Sendable {
  /// The first waiting jobs of all users, highest priority first, then in the order in which they were added.
  public var jobs: [PlannedJob] = []
  /// The number of unfinished jobs of the batches that some of them wait for.
  public var unfinished: [BatchID: Int] = [:]
  /// How fast files were transferred lately, by origin, in bytes a second.
  public var rates: [String: Double] = [:]
  /// The mean length of these files.
  public var typicalBytes: Double?
}

extension Store {
  /// The number of completed jobs of each user from which rates are taken.
  private static let observedJobs = 200

  /// One pass over the waiting jobs: about a second for a million.
  /// - Parameter limit: the most jobs.
  public func planFacts(limit: Int) async throws(StoreError) -> PlanFacts {
    try await read { db in
      var facts = PlanFacts()
      let ids = try db.rows(Self.waitingJobs) {
        $0("limit", limit)
      } read: {
        try $0.jobID("id")
      }
      var rows = try JobListRows(db, in: .everything)
      let find = try PreparedStatement(db, Self.obstacles)
      for (id, listed) in zip(ids, try rows.jobs(ids)) {
        guard id == listed.job.id, let waitFacts = listed.waitFacts else { continue }
        var job = PlannedJob(job: listed.job, owner: 0, facts: waitFacts)
        try find.each {
          $0("id", id)
        } body: { row in
          job.owner = try row.uid("owner")
          job.limitRate = try row.optionalInt64("limit_rate")
          if let first = try row.optionalJobID("blocked_by") { job.obstacles.append(.job(first)) }
          if let other = try row.optionalJobID("on_job") { job.obstacles.append(.job(other)) }
          if let name = try row.optionalText("on_batch") {
            job.obstacles.append(.batch(BatchID(owner: try row.uid("on_owner"), name: name)))
          }
          return true
        }
        job.obstacles = Array(Set(job.obstacles))
        for case .batch(let batch) in job.obstacles where facts.unfinished[batch] == nil {
          let counts = try StateCounts.fetch(db, batch: batch)
          facts.unfinished[batch] = JobState.allCases.filter { !$0.isFinal }.reduce(0) { $0 + counts[$1] }
        }
        facts.jobs.append(job)
      }
      try Self.observe(db, &facts)
      return facts
    }
  }

  private static func observe(_ db: Database, _ facts: inout PlanFacts) throws {
    var sums: [String: (bytes: Double, seconds: Double)] = [:]
    var files = (bytes: 0.0, count: 0.0)
    for owner in try db.jobOwners() {
      try db.each(observed) { bind in
        bind("owner", owner)
        bind("limit", observedJobs)
      } body: { row in
        let bytes = Double(try row.int64("bytes_done"))
        let milliseconds = Double(try row.int64("milliseconds"))
        let origin = try row.text("origin")
        files.bytes += bytes  // checked: floating point does not trap
        files.count += 1  // checked: floating point does not trap
        sums[origin, default: (0, 0)].bytes += bytes  // checked: floating point does not trap
        // checked: floating point does not trap
        sums[origin, default: (0, 0)].seconds += max(1, milliseconds) / 1000
        return true
      }
    }
    // checked: each sum has at least a millisecond
    facts.rates = sums.compactMapValues { $0.bytes > 0 ? $0.bytes / $0.seconds : nil }
    if files.count > 0, files.bytes > 0 { facts.typicalBytes = files.bytes / files.count }
  }

  static let waitingJobs = """
    SELECT id FROM job NOT INDEXED WHERE state = 'queued' OR state = 'retrying' ORDER BY priority DESC, id LIMIT :limit
    """

  private static let obstacles = """
    SELECT job.owner, job.blocked_by, json_extract(job.options, '$.limitRate') AS limit_rate, on_job, on_batch, on_owner
    FROM job LEFT JOIN dependency ON dependency.job = job.id AND is_open = 1 WHERE job.id = :id
    """

  private static let observed = """
    SELECT bytes_done, finished_at - attempt_started_at AS milliseconds,
      (SELECT name FROM origin WHERE origin.id = origin_id) AS origin
    FROM job INDEXED BY job_owner_state
    WHERE owner = :owner AND state = 'completed' AND result IS NULL AND attempt_started_at IS NOT NULL
    ORDER BY id DESC LIMIT :limit
    """
}
