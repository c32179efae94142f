public import FoundationEssentials

/// `show`: a job, what was asked for, and the tries so far. In JSON the job's fields stand beside the others.
public struct JobDetail: Codable, Equatable, Sendable {
  public var job: Job
  public var options: Options
  /// Newest last; at most the 100 newest.
  public var attempts: [Attempt]

  public init(job: Job, options: Options, attempts: [Attempt]) {
    self.job = job
    self.options = options
    self.attempts = attempts
  }

  /// What the user asked for beyond the contract's fields. Header values that look like secrets are left out.
  public struct Options: Codable, Equatable, Sendable {
    public var headers: [String: String]
    /// Names of headers that are stored and sent, but not shown.
    public var secretHeaders: [String]
    /// Whether the URL came with a user name or password, which are stored and sent, but not shown.
    public var hasCredentials: Bool
    public var replace: Bool
    public var createDirectories: Bool
    public var nameFromResponse: Bool
    /// Bytes a second; `nil`: no limit.
    public var limitRate: Int64?
    /// Seconds.
    public var connectTimeout: Double?
    /// Seconds.
    public var stallTimeout: Double?
    /// Where user name and password are looked up.
    public var credentials: SecretReference?
    /// Where the values of headers are looked up.
    public var headerReferences: [String: SecretHeader]?
    /// Of an upload.
    public var upload: UploadOptions?
    /// The file was read from standard input and is the daemon's own.
    public var isSpooled: Bool?
    /// The upload to the same URL that goes first.
    public var follows: JobID?
    /// The uid of the user who submitted the job; `nil` from a daemon that does not tell.
    public var owner: UInt32?

    public init(
      headers: [String: String] = [:], secretHeaders: [String] = [], hasCredentials: Bool = false,
      replace: Bool = false, createDirectories: Bool = false, nameFromResponse: Bool = false,
      limitRate: Int64? = nil, connectTimeout: Double? = nil, stallTimeout: Double? = nil,
      credentials: SecretReference? = nil, headerReferences: [String: SecretHeader]? = nil,
      upload: UploadOptions? = nil, isSpooled: Bool? = nil, follows: JobID? = nil, owner: UInt32? = nil
    ) {
      self.headers = headers
      self.secretHeaders = secretHeaders
      self.hasCredentials = hasCredentials
      self.replace = replace
      self.createDirectories = createDirectories
      self.nameFromResponse = nameFromResponse
      self.limitRate = limitRate
      self.connectTimeout = connectTimeout
      self.stallTimeout = stallTimeout
      self.credentials = credentials
      self.headerReferences = headerReferences
      self.upload = upload
      self.isSpooled = isSpooled
      self.follows = follows
      self.owner = owner
    }
  }

  private enum CodingKeys: String, CodingKey { case options, attempts }

  public init(from decoder: any Decoder) throws {
    job = try Job(from: decoder)
    let container = try decoder.container(keyedBy: CodingKeys.self)
    options = try container.decode(Options.self, forKey: .options)
    attempts = try container.decode([Attempt].self, forKey: .attempts)
  }

  public func encode(to encoder: any Encoder) throws {
    try job.encode(to: encoder)
    var container = encoder.container(keyedBy: CodingKeys.self)
    try container.encode(options, forKey: .options)
    try container.encode(attempts, forKey: .attempts)
  }
}

/// One try of a job: one row, written when it begins and again when it ends.
public struct Attempt: Codable, Equatable, Sendable {
  /// 1 for the job's first try, growing for ever.
  public var number: Int
  public var startedAt: Date
  /// `nil` while it runs, and for a try that was cut off with the daemon.
  public var endedAt: Date?
  public var outcome: Outcome?
  /// Offset it went on from.
  public var resumedFrom: Int64
  /// Body bytes that crossed the network in this try, those fetched again included; of an upload, those sent.
  public var bytesReceived: Int64
  public var httpStatus: Int?
  public var remoteAddress: String?
  /// `http/1.1`, `h2`, …
  public var networkProtocol: String?
  public var timings: Timings?
  public var error: JobFailure?

  public enum Outcome: String, Codable, CaseIterable, Sendable {
    case completed, failed, paused, cancelled, interrupted
  }

  /// Seconds since the try's start, as libcurl measured its last transfer. `curl_easy_getinfo(3)`
  public struct Timings: Codable, Equatable, Sendable {
    public var nameLookup: Double
    public var connect: Double
    public var tls: Double
    public var firstByte: Double
    public var total: Double
    public var connectionReused: Bool

    public init(
      nameLookup: Double, connect: Double, tls: Double, firstByte: Double, total: Double,
      connectionReused: Bool
    ) {
      self.nameLookup = nameLookup
      self.connect = connect
      self.tls = tls
      self.firstByte = firstByte
      self.total = total
      self.connectionReused = connectionReused
    }
  }

  public init(
    number: Int, startedAt: Date, endedAt: Date? = nil, outcome: Outcome? = nil,
    resumedFrom: Int64 = 0, bytesReceived: Int64 = 0, httpStatus: Int? = nil,
    remoteAddress: String? = nil, networkProtocol: String? = nil, timings: Timings? = nil,
    error: JobFailure? = nil
  ) {
    self.number = number
    self.startedAt = startedAt
    self.endedAt = endedAt
    self.outcome = outcome
    self.resumedFrom = resumedFrom
    self.bytesReceived = bytesReceived
    self.httpStatus = httpStatus
    self.remoteAddress = remoteAddress
    self.networkProtocol = networkProtocol
    self.timings = timings
    self.error = error
  }
}
