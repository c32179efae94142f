public import FoundationEssentials

/// A job as clients see it: the JSON fields of the API, in their order. Contains no secrets.
public struct Job: Codable, Equatable, Sendable, Identifiable {
  public var id: JobID
  public var kind: JobKind
  /// What a relay does now, or did last; `nil` for all other jobs. `bytesDone` and `bytesTotal` are those of the phase.
  public var phase: RelayPhase?
  public var state: JobState
  /// The URL (of an upload: the file's path). Userinfo and secret query values are left out.
  public var source: String
  /// The absolute path (of an upload or a relay: the URL). Ends in `/` while a download waits for the server to name its file.
  public var destination: String
  /// Bytes from which the job can resume; while it runs, the live number.
  public var bytesDone: Int64
  /// `nil` while unknown.
  public var bytesTotal: Int64?
  /// Smoothed over about 15 s; 0 unless running.
  public var bytesPerSecond: Int64
  /// The number of the current or last attempt, counted from 1 again after an attempt with progress; 0: no attempt.
  public var attempt: Int
  /// Consecutive attempts without progress after which the job fails.
  public var maxAttempts: Int
  /// When the next attempt begins; only while `retrying`.
  public var retryAt: Date?
  /// Jobs with a higher priority start first; jobs with the same priority start in the order in which they were added.
  public var priority: Int
  public var batch: String?
  public var key: String?
  /// `sha-256=…`, as demanded by the user.
  public var checksum: String?
  public var error: JobFailure?
  /// The action on the file of a completed upload with `onSuccess`; `nil` for all other jobs.
  public var action: FileAction?
  /// Why the job does not run now, if it could; `nil` for all others.
  public var waiting: Waiting?
  /// What a completed job has done; `nil` for all others.
  public var result: JobResult?
  public var createdAt: Date
  public var startedAt: Date?
  public var finishedAt: Date?

  public init(
    id: JobID, kind: JobKind, state: JobState, source: String, destination: String,
    bytesDone: Int64 = 0, bytesTotal: Int64? = nil, bytesPerSecond: Int64 = 0, attempt: Int = 0,
    maxAttempts: Int, retryAt: Date? = nil, priority: Int = 0, batch: String? = nil,
    key: String? = nil, checksum: String? = nil, error: JobFailure? = nil,
    action: FileAction? = nil, createdAt: Date, startedAt: Date? = nil, finishedAt: Date? = nil
  ) {
    self.id = id
    self.kind = kind
    self.state = state
    self.source = source
    self.destination = destination
    self.bytesDone = bytesDone
    self.bytesTotal = bytesTotal
    self.bytesPerSecond = bytesPerSecond
    self.attempt = attempt
    self.maxAttempts = maxAttempts
    self.retryAt = retryAt
    self.priority = priority
    self.batch = batch
    self.key = key
    self.checksum = checksum
    self.error = error
    self.action = action
    self.createdAt = createdAt
    self.startedAt = startedAt
    self.finishedAt = finishedAt
  }

  /// Whether a number of attempts ends the job. With `retryFor` alone only the time does.
  public var limitsAttempts: Bool { maxAttempts < JobOptions.maximumAttempts }

  private enum CodingKeys: String, CodingKey {
    case id, kind, phase, state, source, destination, bytesDone, bytesTotal, bytesPerSecond, attempt
    case maxAttempts, retryAt, priority, batch, key, checksum, error, action, waiting, result, createdAt, startedAt
    case finishedAt
  }

  /// Every field is present, with null for missing values, so that scripts need not test for its presence.
  public func encode(to encoder: any Encoder) throws {
    var container = encoder.container(keyedBy: CodingKeys.self)
    try container.encode(id, forKey: .id)
    try container.encode(kind, forKey: .kind)
    try container.encode(phase, forKey: .phase)
    try container.encode(state, forKey: .state)
    try container.encode(source, forKey: .source)
    try container.encode(destination, forKey: .destination)
    try container.encode(bytesDone, forKey: .bytesDone)
    try container.encode(bytesTotal, forKey: .bytesTotal)
    try container.encode(bytesPerSecond, forKey: .bytesPerSecond)
    try container.encode(attempt, forKey: .attempt)
    try container.encode(maxAttempts, forKey: .maxAttempts)
    try container.encode(retryAt, forKey: .retryAt)
    try container.encode(priority, forKey: .priority)
    try container.encode(batch, forKey: .batch)
    try container.encode(key, forKey: .key)
    try container.encode(checksum, forKey: .checksum)
    try container.encode(error, forKey: .error)
    try container.encode(action, forKey: .action)
    try container.encode(waiting, forKey: .waiting)
    try container.encode(result, forKey: .result)
    try container.encode(createdAt, forKey: .createdAt)
    try container.encode(startedAt, forKey: .startedAt)
    try container.encode(finishedAt, forKey: .finishedAt)
  }
}
