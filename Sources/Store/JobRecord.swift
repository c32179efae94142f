import FoundationEssentials
import GRDB
public import TransferAPI
public import WireValues

public import struct FoundationEssentials.Data

/// A stored job: the part that clients see, and the part that only the daemon uses.
public struct JobRecord: Equatable, Sendable {
  /// Without secrets.
  public var job: Job
  /// The request. `spec.paused` is whether the job is paused now; `spec.destination` is the name that is known now.
  public var spec: JobSpec
  /// Grows at each claim. Checkpoints and settlements of a running job carry the fence of their claim.
  public var fence: Int64
  /// The number of the newest attempt's row; it never goes back. 0: there was no attempt.
  public var attemptNumber: Int
  /// 8 hexadecimal digits for the part file's name; made when the job was added, never changed.
  public var partToken: String
  /// The engine's ledger at the last checkpoint, opaque to the store.
  public var resumeData: Data?
  /// The verified part file, noted just before it is renamed to the destination.
  public var finishing: FileIdentity?
  /// Number of consecutive unexpected ends of the daemon while this job ran.
  public var crashes: Int
  /// Number of crashes of the daemon, with a crash mark, while this job ran, since an attempt of the job last ended by
  /// itself.
  public var crashMarks: Int
  /// The wait before the last retry, for a policy whose waits grow; 0: there was no retry.
  public var retryDelayMilliseconds: Int64
  /// The unfinished upload to the same URL that goes first: until it ends, this job is not claimed.
  public var blockedBy: JobID?
  /// The job's `notBefore`, as long as that time has not come: until then, this job is not claimed.
  public var waitsUntil: Date?
  /// When the job's `window` opens, if that was closed when the daemon last looked: until then, this job is not claimed.
  public var closedUntil: Date?
  /// The number of dependencies that have not completed: until it is 0, this job is not claimed.
  public var openDependencies = 0
  /// The first of them.
  public var firstDependency: JobDependency?
  /// When the first failure since the last progress was stored; `nil`: there was none.
  public var failingSince: Date?
  /// What is known of `finishing` when it has its name.
  public var finishingRecord: Data?
  /// What is known of the file at the destination, or may be: for a claimed job with `ifChanged`. Opaque to the store.
  public var fileRecords: [Data] = []
  /// What earlier attempts have received: for a claimed job whose count of attempts is not the number of all of them.
  public var receivedBefore = ReceivedBefore()
}

extension JobRecord {
  /// The columns that `init(_:)` reads.
  static let columns = """
    job.id, job.owner, job.kind, job.state, job.source, job.destination, \
    (SELECT name FROM origin WHERE origin.id = job.origin_id) AS origin, job.phase, \
    (SELECT name FROM origin WHERE origin.id = job.other_origin_id) AS other_origin, \
    (SELECT substr(data, job.secret_offset + 1, job.secret_length) FROM secret WHERE id = job.secret) AS secrets, \
    job.options, job.batch, job.key, job.priority, job.spool, \
    job.bytes_done, job.bytes_total, job.attempt, job.retry_at, job.created_at, job.started_at, job.finished_at, \
    job.error_code, job.error_message, job.error_status, job.error_transient, job.action_state, job.action_message, \
    job.fence, job.attempt_number, job.part_token, job.resume_data, job.finishing_device, job.finishing_inode, \
    job.crashes, job.crash_marks, job.retry_delay, job.blocked_by, job.waits_until, job.deadline, job.failing_since, \
    job.result, job.finishing_record, job.closed_until, job.open_dependencies, \
    \(Database.firstDependency)
    """

  init(_ row: inout RowReader) throws {
    let id = try row.jobID("id")
    row.subject = "job \(id)"
    let state: JobState
    (spec, state) = try Self.spec(&row)
    job = Job(
      id: id, kind: spec.kind, state: state, source: Secrets.redacting(url: spec.source),
      destination: spec.sendsToURL ? Secrets.redacting(url: spec.destination) : spec.destination,
      bytesDone: try row.int64("bytes_done"), bytesTotal: try row.optionalInt64("bytes_total"),
      attempt: try row.int("attempt"), maxAttempts: spec.options.maxAttempts ?? JobOptions.standardMaxAttempts,
      retryAt: try row.optionalDate("retry_at"), priority: spec.priority, batch: spec.batch, key: spec.key,
      checksum: spec.options.download.checksum, createdAt: try row.date("created_at"),
      startedAt: try row.optionalDate("started_at"), finishedAt: try row.optionalDate("finished_at"))
    job.phase = spec.relay?.phase
    job.error = try row.failure()
    let action: FileAction.State? = try row.optionalWord("action_state")
    let message = try row.optionalText("action_message")
    job.action = action.map { FileAction(state: $0, message: message) }
    fence = try row.int64("fence")
    attemptNumber = try row.int("attempt_number")
    partToken = try row.text("part_token")
    resumeData = try row.optionalData("resume_data")
    let device = try row.optionalInt64("finishing_device")
    let inode = try row.optionalInt64("finishing_inode")
    if let device, let inode {
      finishing = FileIdentity(device: UInt64(bitPattern: device), inode: UInt64(bitPattern: inode))
    }
    crashes = try row.int("crashes")
    crashMarks = try row.int("crash_marks")
    retryDelayMilliseconds = try row.int64("retry_delay")
    blockedBy = try row.optionalJobID("blocked_by")
    waitsUntil = try row.optionalDate("waits_until")
    // A deadline that no longer counts after a retry is not shown.
    let deadline = try row.optionalDate("deadline")
    if deadline == nil, spec.options.schedule.deadline != nil { spec.options.schedule.deadline = nil }
    failingSince = try row.optionalDate("failing_since")
    let result: JobResult? = try row.optionalWord("result")
    job.result = state == .completed ? result ?? .transferred : nil
    finishingRecord = try row.optionalData("finishing_record")
    closedUntil = try row.optionalDate("closed_until")
    openDependencies = try row.int("open_dependencies")
    firstDependency = try row.dependency("first_dependency")
  }

  private static func spec(_ row: inout RowReader) throws -> (JobSpec, JobState) {
    let owner = try row.uid("owner")
    let kind: JobKind = try row.word("kind")
    let state: JobState = try row.word("state")
    let (source, destination) = (try row.text("source"), try row.text("destination"))
    let origin = try row.text("origin")
    let phase: RelayPhase? = try row.optionalWord("phase")
    let otherOrigin = try row.optionalText("other_origin")
    var spec =
      switch kind {
      case .download, .listing, .relay: JobSpec(owner: owner, url: source, origin: origin, destination: destination)
      case .upload: JobSpec(owner: owner, uploading: source, to: destination, origin: origin)
      }
    spec.kind = kind
    if kind == .relay {
      guard let phase, let otherOrigin else { throw RowReader.Unreadable(description: "\(row.subject) has no phase") }
      spec.relay = JobSpec.Relay(phase: phase, otherOrigin: otherOrigin)
    }
    let secrets = try row.secrets("secrets")
    spec.options = try row.options("options")
    secrets?.fill(&spec)
    spec.batch = try row.optionalText("batch")
    spec.key = try row.optionalText("key")
    spec.priority = try row.int("priority")
    spec.paused = state == .paused
    spec.spool = try row.optionalText("spool")
    return (spec, state)
  }
}
