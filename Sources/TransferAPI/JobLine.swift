import FoundationEssentials

/// Writes and reads jobs as lines of JSON, byte for byte as `WireCoding` does, but without a coder: a list may have a million
/// lines.
public struct JobLine: Sendable {
  public init() {}

  /// Appends a job and a newline.
  public func write(_ job: Job, to text: inout JSONText) throws {
    text.literal("{\"action\":")
    try text.rare(job.action)
    text.literal(",\"attempt\":")
    text.number(Int64(job.attempt))
    text.literal(",\"batch\":")
    text.string(job.batch)
    text.literal(",\"bytesDone\":")
    text.number(job.bytesDone)
    text.literal(",\"bytesPerSecond\":")
    text.number(job.bytesPerSecond)
    text.literal(",\"bytesTotal\":")
    text.number(job.bytesTotal)
    text.literal(",\"checksum\":")
    text.string(job.checksum)
    text.literal(",\"createdAt\":")
    text.date(job.createdAt)
    text.literal(",\"destination\":")
    text.string(job.destination)
    text.literal(",\"error\":")
    try text.rare(job.error)
    text.literal(",\"finishedAt\":")
    text.date(job.finishedAt)
    text.literal(",\"id\":")
    text.number(job.id.rawValue)
    text.literal(",\"key\":")
    text.string(job.key)
    text.literal(",\"kind\":")
    text.string(job.kind.rawValue)
    text.literal(",\"maxAttempts\":")
    text.number(Int64(job.maxAttempts))
    text.literal(",\"phase\":")
    text.string(job.phase?.rawValue)
    text.literal(",\"priority\":")
    text.number(Int64(job.priority))
    text.literal(",\"result\":")
    text.string(job.result?.rawValue)
    text.literal(",\"retryAt\":")
    text.date(job.retryAt)
    text.literal(",\"source\":")
    text.string(job.source)
    text.literal(",\"startedAt\":")
    text.date(job.startedAt)
    text.literal(",\"state\":")
    text.string(job.state.rawValue)
    text.literal(",\"waiting\":")
    Self.write(job.waiting, to: &text)
    text.literal("}\n")
  }

  private static func write(_ waiting: Waiting?, to text: inout JSONText) {
    guard let waiting else { return text.literal("null") }
    text.literal("{\"detail\":")
    text.string(waiting.detail)
    text.literal(",\"reason\":")
    text.string(waiting.reason.rawValue)
    text.literal(",\"until\":")
    text.date(waiting.until)
    text.literal("}")
  }

  private static func optionalWaiting(_ scan: inout JSONScan) -> Waiting?? {
    if scan.skip("null") { return .some(nil) }
    guard scan.skip("{\"detail\":"), let detail = scan.string(), scan.skip(",\"reason\":"),
      let reason = scan.string().flatMap(Waiting.Reason.init(rawValue:)), scan.skip(",\"until\":"),
      let until = scan.optionalDate(), scan.skip("}")
    else { return nil }
    return Waiting(reason, until: until, detail)
  }

  /// Reads a line that `write` has made.
  /// - Returns: `nil` for other JSON, or for a line with an error or an action: `WireCoding` reads them.
  public func read(_ line: some Collection<UInt8>) -> Job? {
    line.withContiguousStorageIfAvailable { bytes -> Job? in
      var scan = JSONScan(UnsafeRawBufferPointer(bytes))
      return Self.job(&scan)
    } ?? nil
  }

  private static func job(_ scan: inout JSONScan) -> Job? {
    guard scan.skip("{\"action\":null,\"attempt\":"), let attempt = scan.number(), scan.skip(",\"batch\":"),
      let batch = scan.optionalString(), scan.skip(",\"bytesDone\":"), let bytesDone = scan.number(),
      scan.skip(",\"bytesPerSecond\":"), let rate = scan.number(), scan.skip(",\"bytesTotal\":"),
      let bytesTotal = scan.optionalNumber(), scan.skip(",\"checksum\":"), let checksum = scan.optionalString(),
      scan.skip(",\"createdAt\":"), let createdAt = scan.optionalDate(), let createdAt, scan.skip(",\"destination\":"),
      let destination = scan.string(), scan.skip(",\"error\":null,\"finishedAt\":"),
      let finishedAt = scan.optionalDate(),
      scan.skip(",\"id\":"), let id = scan.number(), scan.skip(",\"key\":"), let key = scan.optionalString(),
      scan.skip(",\"kind\":"), let kind = scan.string().flatMap(JobKind.init(rawValue:)),
      scan.skip(",\"maxAttempts\":"),
      let maxAttempts = scan.number(), scan.skip(",\"phase\":"), let phase = scan.optionalWord(RelayPhase.self),
      scan.skip(",\"priority\":"), let priority = scan.number(),
      scan.skip(",\"result\":"), let result = scan.optionalWord(JobResult.self), scan.skip(",\"retryAt\":"),
      let retryAt = scan.optionalDate(), scan.skip(",\"source\":"),
      let source = scan.string(), scan.skip(",\"startedAt\":"), let startedAt = scan.optionalDate(),
      scan.skip(",\"state\":"), let state = scan.string().flatMap(JobState.init(rawValue:)),
      scan.skip(",\"waiting\":"), let waiting = optionalWaiting(&scan), scan.skip("}"), scan.isAtEnd
    else { return nil }
    var job = Job(
      id: JobID(id), kind: kind, state: state, source: source, destination: destination, bytesDone: bytesDone,
      bytesTotal: bytesTotal, bytesPerSecond: rate, attempt: Int(attempt), maxAttempts: Int(maxAttempts),
      retryAt: retryAt, priority: Int(priority), batch: batch, key: key, checksum: checksum, createdAt: createdAt,
      startedAt: startedAt, finishedAt: finishedAt)
    (job.waiting, job.result, job.phase) = (waiting, result, phase)
    return job
  }
}
