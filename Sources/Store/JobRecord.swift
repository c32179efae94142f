import FoundationEssentials
import GRDB
public import TransferAPI

public import struct FoundationEssentials.Data

/// A stored job: the face everybody sees, and what only the daemon may know.
public struct JobRecord: Equatable, Sendable {
  /// Without secrets.
  public var job: Job
  /// What was asked for. `spec.paused` tells whether the job is paused now; `spec.destination` is the known
  /// name.
  public var spec: JobSpec
  /// Grows at each claim. Whoever writes for a running job shows the fence of its claim.
  public var fence: Int64
  /// Tries ever: the number of the newest attempt's row. 0: never tried.
  public var attemptNumber: Int
  /// 8 hexadecimal digits for the part file's name; made when the job was added, never changed.
  public var partToken: String
  /// The engine's ledger at the last checkpoint, opaque here.
  public var resumeData: Data?
  /// The verified part file, noted just before it is renamed to the destination.
  public var finishing: FileIdentity?
  /// How often in a row the daemon ended without notice while this job ran.
  public var crashes: Int
  /// How often the daemon crashed, and left a mark, while this job ran; since an attempt of it last ended by itself.
  public var crashMarks: Int
  /// The wait before the last retry, for a policy that grows it; 0 where there was none.
  public var retryDelayMilliseconds: Int64
  /// The unfinished upload to the same URL that goes first: until it ends, this job is not claimed.
  public var follows: JobID?
}

/// Which file, whatever its name: `stat(2)`'s `st_dev` and `st_ino`.
public struct FileIdentity: Equatable, Sendable {
  public var device: UInt64
  public var inode: UInt64
  public init(device: UInt64, inode: UInt64) {
    self.device = device
    self.inode = inode
  }
}

/// The seldom used part of a job, kept as JSON so that it may grow without a migration.
struct JobOptions: Codable, Equatable {
  var headers: [String: String]?
  var credentials: SecretReference?
  var secretHeaders: [String: SecretHeader]?
  var upload: UploadOptions?

  /// `nil` where there is nothing to keep, which is the rule.
  static func json(for spec: JobSpec) throws -> String? {
    var options = JobOptions()
    if !spec.headers.isEmpty { options.headers = spec.headers }
    options.credentials = spec.credentialsReference
    if !spec.secretHeaders.isEmpty { options.secretHeaders = spec.secretHeaders }
    if spec.upload != UploadOptions() { options.upload = spec.upload }
    guard options != JobOptions() else { return nil }
    return String(decoding: try WireCoding.encoder().encode(options), as: UTF8.self)
  }

  func fill(_ spec: inout JobSpec) {
    spec.headers = headers ?? [:]
    spec.credentialsReference = credentials
    spec.secretHeaders = secretHeaders ?? [:]
    spec.upload = upload ?? UploadOptions()
  }
}

extension JobRecord {
  /// What `init(_:)` reads, in its order.
  static let columns = """
    job.id, job.kind, job.state, job.source, job.destination, \
    (SELECT name FROM origin WHERE origin.id = job.origin_id), job.replace, \
    job.create_directories, job.name_from_response, job.checksum, job.options, job.batch, job.key, \
    job.priority, job.limit_rate, job.max_attempts, job.connect_timeout, job.stall_timeout, \
    job.bytes_done, job.bytes_total, job.attempt, job.attempt_number, job.fence, job.part_token, \
    job.resume_data, job.finishing_device, job.finishing_inode, job.crashes, job.retry_at, \
    job.retry_delay, job.created_at, job.started_at, job.finished_at, \
    job.error_code, job.error_message, job.error_status, job.error_transient, \
    job.follows, job.spool, job.action_state, job.action_message, job.owner, job.crash_marks, \
    (SELECT substr(data, job.secret_offset + 1, job.secret_length) FROM secret WHERE id = job.secret)
    """

  init(_ reader: inout RowReader) throws {
    let id = JobID(try reader.int64())
    reader.subject = "job \(id)"
    let kind: JobKind = try reader.word()
    let state: JobState = try reader.word()
    let source = try reader.text()
    let destination = try reader.text()
    let origin = try reader.text()
    var spec: JobSpec
    switch kind {
    case .download: spec = JobSpec(owner: 0, url: source, origin: origin, destination: destination)
    case .upload: spec = JobSpec(owner: 0, uploading: source, to: destination, origin: origin)
    }
    spec.replace = try reader.bool()
    spec.createDirectories = try reader.bool()
    spec.nameFromResponse = try reader.bool()
    spec.checksum = try reader.optionalText()
    if let options: JobOptions = try reader.optionalJSON() { options.fill(&spec) }
    spec.batch = try reader.optionalText()
    spec.key = try reader.optionalText()
    spec.priority = try reader.int()
    spec.paused = state == .paused
    spec.limitRate = try reader.optionalInt64()
    spec.maxAttempts = try reader.int()
    spec.connectTimeout = try reader.optionalSeconds()
    spec.stallTimeout = try reader.optionalSeconds()
    job = Job(
      id: id, kind: kind, state: state, source: Secrets.redacting(url: source),
      destination: kind == .upload ? Secrets.redacting(url: destination) : destination,
      bytesDone: try reader.int64(), bytesTotal: try reader.optionalInt64(), attempt: try reader.int(),
      maxAttempts: spec.maxAttempts, priority: spec.priority, batch: spec.batch, key: spec.key,
      checksum: spec.checksum, createdAt: Date(milliseconds: 0))
    self.spec = spec
    attemptNumber = try reader.int()
    fence = try reader.int64()
    partToken = try reader.text()
    resumeData = try reader.optionalData()
    let device = try reader.optionalInt64()
    let inode = try reader.optionalInt64()
    if let device, let inode {
      finishing = FileIdentity(device: UInt64(bitPattern: device), inode: UInt64(bitPattern: inode))
    }
    crashes = try reader.int()
    job.retryAt = try reader.optionalDate()
    retryDelayMilliseconds = try reader.int64()
    job.createdAt = try reader.date()
    job.startedAt = try reader.optionalDate()
    job.finishedAt = try reader.optionalDate()
    job.error = try reader.failure()
    follows = try reader.optionalInt64().map(JobID.init(rawValue:))
    self.spec.spool = try reader.optionalText()
    let action: FileAction.State? = try reader.optionalWord()
    let message = try reader.optionalText()
    job.action = action.map { FileAction(state: $0, message: message) }
    self.spec.owner = try reader.uid()
    crashMarks = try reader.int()
    if let secrets = try reader.secrets() {
      secrets.fill(&self.spec)
      job.source = Secrets.redacting(url: self.spec.source)
      if kind == .upload { job.destination = Secrets.redacting(url: self.spec.destination) }
    }
  }
}
