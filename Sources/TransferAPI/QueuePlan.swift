public import FoundationEssentials

/// `GET /v1/plan`: the waiting jobs in the order in which they are expected to begin.
public struct QueuePlan: Codable, Equatable, Sendable {
  /// A waiting job, and when it is expected to run.
  public struct Entry: Codable, Equatable, Sendable {
    public var id: JobID
    public var kind: JobKind
    /// `queued` or `retrying`.
    public var state: JobState
    public var source: String
    public var destination: String
    public var batch: String?
    public var priority: Int
    /// What is left to transfer; `nil` while the size is unknown.
    public var bytesLeft: Int64?
    /// `nil` if it cannot be said.
    public var start: Date?
    /// `nil` if the size, or how fast it will be transferred, is unknown.
    public var end: Date?
    /// Why the job does not run now; `nil` for a job that starts at once.
    public var waiting: Waiting?

    public init(_ job: Job, start: Date?, end: Date?) {
      id = job.id
      kind = job.kind
      state = job.state
      source = job.source
      destination = job.destination
      batch = job.batch
      priority = job.priority
      bytesLeft = job.bytesTotal.map { max(0, $0 - min($0, max(0, job.bytesDone))) }  // checked: at most the total
      self.start = start
      self.end = end
      waiting = job.waiting
    }

    private enum CodingKeys: String, CodingKey {
      case id, kind, state, source, destination, batch, priority, bytesLeft, start, end, waiting
    }

    /// Every field is present, with null for missing values.
    public func encode(to encoder: any Encoder) throws {
      var container = encoder.container(keyedBy: CodingKeys.self)
      try container.encode(id, forKey: .id)
      try container.encode(kind, forKey: .kind)
      try container.encode(state, forKey: .state)
      try container.encode(source, forKey: .source)
      try container.encode(destination, forKey: .destination)
      try container.encode(batch, forKey: .batch)
      try container.encode(priority, forKey: .priority)
      try container.encode(bytesLeft, forKey: .bytesLeft)
      try container.encode(start, forKey: .start)
      try container.encode(end, forKey: .end)
      try container.encode(waiting, forKey: .waiting)
    }
  }

  public var jobs: [Entry]
  /// The number of waiting jobs that are not in the list.
  public var more: Int

  public init(jobs: [Entry], more: Int) {
    self.jobs = jobs
    self.more = more
  }
}
