public import FoundationEssentials

/// The answer to one added job. `line` only in the answer to `jobs:batch`.
public struct AddResult: Codable, Equatable, Sendable {
  public var line: Int?
  public var id: JobID?
  /// `true` where the key was known and `id` names the job that was there before.
  public var existing: Bool?
  public var error: Problem?
  /// Where the job stands, if it was there before.
  public var state: JobState?
  /// What the user should know of a job that was added all the same.
  public var warning: String?

  public init(
    line: Int? = nil, id: JobID? = nil, existing: Bool? = nil, error: Problem? = nil, state: JobState? = nil,
    warning: String? = nil
  ) {
    self.line = line
    self.id = id
    self.existing = existing
    self.error = error
    self.state = state
    self.warning = warning
  }
}

/// The body of an answer of 400 and above: `application/problem+json`, RFC 9457.
public struct Problem: Error, Codable, Equatable, Sendable, CustomStringConvertible {
  /// Stable, for scripts.
  public var code: Code
  /// For people: what could not be done, why, what to do.
  public var detail: String
  public var status: Int

  public init(_ code: Code, _ detail: String) {
    self.code = code
    self.detail = detail
    self.status = code.status
  }

  public var description: String { detail }

  public enum Code: String, Codable, CaseIterable, Sendable {
    case invalid
    case notFound = "not-found"
    case permission
    case notAllowed = "not-allowed"
    case destinationExists = "destination-exists"
    case destinationMissing = "destination-missing"
    /// The file to upload is not there.
    case sourceMissing = "source-missing"
    case tooLarge = "too-large"
    case methodNotAllowed = "method-not-allowed"
    case unsupportedMediaType = "unsupported-media-type"
    case diskFull = "disk-full"
    case unavailable
    case `internal`

    public var status: Int {
      switch self {
      case .invalid: 400
      case .permission: 403
      case .notFound: 404
      case .methodNotAllowed: 405
      case .notAllowed, .destinationExists: 409
      case .destinationMissing, .sourceMissing: 422
      case .tooLarge: 413
      case .unsupportedMediaType: 415
      case .internal: 500
      case .unavailable: 503
      case .diskFull: 507
      }
    }
  }
}

/// The answer to a verb on several jobs. With `ids` every id is named; with other selectors only counts are given.
public struct VerbOutcome: Codable, Equatable, Sendable {
  /// How many jobs now are as asked.
  public var changed: Int
  /// How many were selected but are in a state that does not allow it.
  public var skipped: Int
  /// Of selected ids only: those that could not be changed, and why.
  public var problems: [IDProblem]
  /// Of `retry`: uploads that are sent again although the server may have them already; `nil` is none.
  public var sentAgain: Int?

  public struct IDProblem: Codable, Equatable, Sendable {
    public var id: JobID
    public var problem: Problem
    public init(id: JobID, problem: Problem) {
      self.id = id
      self.problem = problem
    }
  }

  public init(changed: Int, skipped: Int, problems: [IDProblem] = [], sentAgain: Int? = nil) {
    self.changed = changed
    self.skipped = skipped
    self.problems = problems
    self.sentAgain = sentAgain
  }
}

/// `PATCH /v1/jobs/{id}`: only the fields that are there change.
public struct JobChange: Codable, Equatable, Sendable {
  public var priority: Int?
  /// Bytes a second; 0 takes the limit away.
  public var limitRate: Int64?
  /// Another address of the same file; the bytes on disk are kept and checked against it.
  public var url: String?

  public init(priority: Int? = nil, limitRate: Int64? = nil, url: String? = nil) {
    self.priority = priority
    self.limitRate = limitRate
    self.url = url
  }

  private enum CodingKeys: String, CodingKey { case priority, limitRate, url }

  /// - Throws: `WireError` for an unknown field: a misspelt one must not look done.
  public init(from decoder: any Decoder) throws {
    try decoder.refuseUnknownFields(besides: CodingKeys.self)
    let container = try decoder.container(keyedBy: CodingKeys.self)
    priority = try container.decodeIfPresent(Int.self, forKey: .priority)
    limitRate = try container.decodeIfPresent(Int64.self, forKey: .limitRate)
    url = try container.decodeIfPresent(String.self, forKey: .url)
  }
}

/// One page of `GET /v1/jobs`, ordered by id.
public struct JobPage: Codable, Equatable, Sendable {
  public var jobs: [Job]
  /// Pass as `after` for the next page; `nil` on the last.
  public var next: JobID?

  public init(jobs: [Job], next: JobID?) {
    self.jobs = jobs
    self.next = next
  }
}

/// One line of the history: every change of a job's state, with its reason. Never changed, never reused.
public struct Event: Codable, Equatable, Sendable {
  /// Grows by every event; the `id:` of the event stream.
  public var seq: Int64
  public var job: JobID
  public var at: Date
  public var kind: Kind
  /// `nil` when the job was added.
  public var from: JobState?
  /// `nil` when the job was removed.
  public var to: JobState?
  /// Why, for people.
  public var reason: String?
  public var error: JobFailure?

  public enum Kind: String, Codable, CaseIterable, Sendable {
    /// Added: `from` is nil.
    case added
    /// The state changed.
    case state
    /// Something other than the state changed: priority, limit, URL; or, with the reason, what was done with an uploaded
    /// file, how a hook ended, what was taken back from a server.
    case changed
    /// Removed: `to` is nil.
    case removed
  }

  public init(
    seq: Int64, job: JobID, at: Date, kind: Kind, from: JobState? = nil, to: JobState? = nil,
    reason: String? = nil, error: JobFailure? = nil
  ) {
    self.seq = seq
    self.job = job
    self.at = at
    self.kind = kind
    self.from = from
    self.to = to
    self.reason = reason
    self.error = error
  }
}

/// Live numbers of a running job; `event: progress` of the event stream. Coalesced to at most 4 a second a job.
public struct Progress: Codable, Equatable, Sendable {
  public var job: JobID
  public var bytesDone: Int64
  public var bytesTotal: Int64?
  public var bytesPerSecond: Int64

  public init(job: JobID, bytesDone: Int64, bytesTotal: Int64?, bytesPerSecond: Int64) {
    self.job = job
    self.bytesDone = bytesDone
    self.bytesTotal = bytesTotal
    self.bytesPerSecond = bytesPerSecond
  }
}

/// `GET /v1/stats`
public struct Stats: Codable, Equatable, Sendable {
  public var version: String
  public var pid: Int32
  public var stateDirectory: String
  public var startedAt: Date
  public var counts: StateCounts
  public var bytesPerSecond: Int64
  public var maxActive: Int
  public var maxPerOrigin: Int
  /// The newest event's number; `since` for a stream that misses nothing from here on.
  public var lastEvent: Int64

  public init(
    version: String, pid: Int32, stateDirectory: String, startedAt: Date, counts: StateCounts,
    bytesPerSecond: Int64, maxActive: Int, maxPerOrigin: Int, lastEvent: Int64
  ) {
    self.version = version
    self.pid = pid
    self.stateDirectory = stateDirectory
    self.startedAt = startedAt
    self.counts = counts
    self.bytesPerSecond = bytesPerSecond
    self.maxActive = maxActive
    self.maxPerOrigin = maxPerOrigin
    self.lastEvent = lastEvent
  }
}

/// The answer of `POST /v1/spool` and `PUT /v1/spool/{token}`.
public struct Spool: Codable, Equatable, Sendable {
  /// Names it, in `NewJob.spool` too.
  public var token: String
  /// Where the next piece begins.
  public var bytes: Int64

  public init(token: String, bytes: Int64) {
    self.token = token
    self.bytes = bytes
  }
}

/// One line of `export` and of the body `import` sends: what was asked for, and where it stood.
public struct ExportedJob: Codable, Equatable, Sendable {
  /// Without secrets: userinfo and secret headers are left out, so an import may need them added again.
  public var request: NewJob
  public var state: JobState
  /// Names, for people, what was left out because it is secret, and leaves no trace in `request`; `nil` for nothing.
  public var omitted: [String]?

  public init(request: NewJob, state: JobState, omitted: [String]? = nil) {
    self.request = request
    self.state = state
    self.omitted = omitted
  }
}
