import FoundationEssentials

/// `show`: a job, its options, and its attempts. In JSON, `options`, `sources` and `attempts` are on the same level as the job's
/// fields.
public struct JobDetail: Equatable, Sendable {
  public var job: Job
  /// Without secrets. `maxAttempts` and `checksum` are fields of `job`.
  public var options: JobOptions
  /// Names of header fields that are stored and sent, but not shown.
  public var secretHeaders: [String] = []
  /// Whether the URL came with a user name or password, which are stored and sent, but not shown.
  public var hasCredentials = false
  /// Whether the upload's content came from standard input, so that the file is the daemon's own copy.
  public var isSpooled = false
  /// The unfinished upload to the same URL that this upload waits for.
  public var blockedBy: JobID?
  /// The job runs although its window is closed, because its transfer cannot be resumed.
  public var isOutsideWindow = false
  /// The uid of the user who submitted the job; `nil` if the daemon does not report it.
  public var owner: UInt32?
  /// The places from which the file is fetched, the job's own URL first; empty if that is the only one.
  public var sources: [JobSource] = []
  /// The 100 newest, the newest last.
  public var attempts: [Attempt]

  public init(job: Job, options: JobOptions, attempts: [Attempt]) {
    self.job = job
    self.options = options
    self.attempts = attempts
  }
}

extension JobDetail: Codable {
  private enum CodingKeys: String, CodingKey { case options, sources, attempts }

  /// Facts that JSON has among the options.
  fileprivate enum FactKeys: String, CodingKey {
    case secretHeaders, hasCredentials, upload, isSpooled, owner, isOutsideWindow, thenUpload
    case blockedBy = "follows"
  }

  public init(from decoder: any Decoder) throws {
    let container = try decoder.container(keyedBy: CodingKeys.self)
    self.init(
      job: try Job(from: decoder), options: JobOptions(),
      attempts: try container.decode([Attempt].self, forKey: .attempts))
    sources = try container.decodeIfPresent([JobSource].self, forKey: .sources) ?? []
    let facts = try container.nestedContainer(keyedBy: FactKeys.self, forKey: .options)
    var reader = ShownOptionReader(
      reader: OptionReader(container: try container.nestedContainer(keyedBy: OptionName.self, forKey: .options)))
    try options.visitShared(&reader)
    try options.download.visit(&reader)
    if job.kind == .upload {
      let shown = try facts.decodeIfPresent(UploadObject.self, forKey: .upload) ?? UploadObject()
      (options.upload, options.s3, options.onSuccess) = (shown.upload, shown.s3, shown.onSuccess)
    } else {
      try options.s3.visit(&reader)
      if job.kind == .listing { try options.listing.visit(&reader) }
      if job.kind == .relay {
        try options.relay.visit(&reader)
        options.upload = try facts.decodeIfPresent(UploadObject.self, forKey: .upload)?.upload ?? JobOptions.Upload()
      }
    }
    secretHeaders = try facts.decode([String].self, forKey: .secretHeaders)
    hasCredentials = try facts.decode(Bool.self, forKey: .hasCredentials)
    isSpooled = try facts.decodeIfPresent(Bool.self, forKey: .isSpooled) ?? false
    blockedBy = try facts.decodeIfPresent(JobID.self, forKey: .blockedBy)
    isOutsideWindow = try facts.decodeIfPresent(Bool.self, forKey: .isOutsideWindow) ?? false
    owner = try facts.decodeIfPresent(UInt32.self, forKey: .owner)
  }

  public func encode(to encoder: any Encoder) throws {
    try job.encode(to: encoder)
    var container = encoder.container(keyedBy: CodingKeys.self)
    try container.encode(attempts, forKey: .attempts)
    if job.kind == .download || job.kind == .relay { try container.encode(sources, forKey: .sources) }
    var writer = ShownOptionWriter(
      writer: OptionWriter(container: container.nestedContainer(keyedBy: OptionName.self, forKey: .options)))
    var options = options
    try options.visitShared(&writer)
    try options.download.visit(&writer)
    if job.kind == .upload {
      try writer.fact(.upload, UploadObject(upload: options.upload, s3: options.s3, onSuccess: options.onSuccess))
    } else {
      try options.s3.visit(&writer)
      if job.kind == .listing { try options.listing.visit(&writer) }
      if job.kind == .relay {
        try options.relay.visit(&writer)
        try writer.fact(.upload, UploadObject(upload: options.upload))
        try writer.fact(.thenUpload, job.destination)
      }
    }
    try writer.fact(.secretHeaders, secretHeaders)
    try writer.fact(.hasCredentials, hasCredentials)
    if isSpooled { try writer.fact(.isSpooled, true) }
    if let blockedBy { try writer.fact(.blockedBy, blockedBy) }
    if isOutsideWindow { try writer.fact(.isOutsideWindow, true) }
    if let owner { try writer.fact(.owner, owner) }
  }
}

/// The name of an option below `options` of `show`; `nil` if the option is a field of the job.
private func shownName(_ name: String) -> String? {
  switch name {
  case "maxAttempts", "checksum": nil
  // `secretHeaders` is the list of the names that are not shown.
  case "secretHeaders": "headerReferences"
  default: name
  }
}

private struct ShownOptionReader: OptionVisitor {
  let reader: OptionReader

  func option<Value: Codable & Equatable & Sendable>(
    _ name: String, _ value: inout Value, default standard: Value
  ) throws {
    if let name = shownName(name) { try reader.option(name, &value, default: standard) }
  }
}

/// Writes headers and flags even if they have their default value.
private struct ShownOptionWriter: OptionVisitor {
  var writer: OptionWriter

  mutating func fact(_ key: JobDetail.FactKeys, _ value: some Encodable) throws {
    try writer.container.encode(value, forKey: OptionName(key.rawValue))
  }

  mutating func option<Value: Codable & Equatable & Sendable>(
    _ name: String, _ value: inout Value, default standard: Value
  ) throws {
    guard let name = shownName(name) else { return }
    if value is Bool || name == "headers" {
      try writer.container.encode(value, forKey: OptionName(name))
    } else {
      try writer.option(name, &value, default: standard)
    }
  }
}
