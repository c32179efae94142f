import HTTPServer
import NIOHTTP1
import Store
import TransferAPI

extension Handlers {
  /// Adds one job. 201 and its id when it is durable; 200 if the key is known.
  static let addJob: RouteTable.Handler = { request, daemon in
    var job = try await request.body(NewJob.self)
    if job.key == nil { job.key = request.header("Idempotency-Key") }
    let submission = try await daemon.intake.submit([.success(job)], from: request.caller)[0].get()
    let result = AddResult(submission)
    return try Reply.json(
      result, status: submission.existing ? .ok : .created, headers: ["Location": "/v1/jobs/\(submission.id)"])
  }

  static let showJob: RouteTable.Handler = { request, daemon in
    let id = try request.jobID()
    guard let (record, attempts) = try await daemon.store.detail(id, in: try request.scope()) else {
      throw StoreError.notFound(id)
    }
    var detail = JobDetail(await daemon.scheduler.shown(record), record, attempts)
    if record.spec.kind == .download || record.spec.kind == .relay {
      let running = daemon.scheduler.runner.sources.reports(of: id)
      detail.sources = if let running { running } else { try await daemon.store.sources(of: id) }
      if detail.sources.isEmpty { detail.sources = JobSource.unused(by: record.spec) }
    }
    detail.isOutsideWindow = await daemon.scheduler.isOutsideWindow(record)
    return try Reply.json(detail)
  }

  static let changeJob: RouteTable.Handler = { request, daemon in
    let id = try request.jobID()
    let change = try await request.body(JobChange.self)
    return try Reply.json(try await daemon.intake.update(id, change, in: request.caller.scope).get())
  }

  static let removeJob: RouteTable.Handler = { request, daemon in
    _ = try await daemon.scheduler.apply(.remove, to: try request.jobID(), in: request.caller.scope).get()
    return Response(status: .noContent)
  }

  static func verb(_ verb: JobVerb) -> RouteTable.Handler {
    { request, daemon in
      let id = try request.jobID()
      guard let record = try await daemon.scheduler.apply(verb, to: id, in: request.caller.scope).get() else {
        throw StoreError.notFound(id)
      }
      return try Reply.json(await daemon.scheduler.shown(record))
    }
  }

  static func verbs(_ verb: JobVerb) -> RouteTable.Handler {
    { request, daemon in
      let selector = try await request.body(JobSelector.self, upTo: maximumSelectorBytes)
      let memory = try await reserve(for: selector, request)
      let scope = try request.scope()
      let selection = try await daemon.store.selection(of: selector, for: request.caller.uid, in: scope)
      return try Reply.json(try await daemon.scheduler.apply(verb, matching: selection, in: scope), holding: memory)
    }
  }

  /// A list with the most ids, each of 19 digits.
  private static let maximumSelectorBytes = 2 << 20
  /// Ids whose results need no part of the server's memory.
  private static let freeIDs = 1000
  /// What an id takes with the problem that it may have, in bytes, until the client has read the response.
  private static let bytesPerID = 1024

  /// The part of the server's memory that the results of a selection need; `nil` for a few ids and for the other
  /// selectors, whose response has counts alone.
  private static func reserve(
    for selector: JobSelector, _ request: ControlRequest
  ) async throws -> MemoryBudget.Reservation? {
    guard case .ids(let ids) = selector, ids.count > freeIDs else { return nil }
    guard ids.count <= JobSelector.maximumIDs else {
      throw Problem(
        .tooLarge, "more than \(JobSelector.maximumIDs) ids; use several requests, or name a batch, a state or all")
    }
    do {
      return try await request.request.reserve(ids.count * bytesPerID)
    } catch let error as RequestError {
      throw Problem(error)
    }
  }
}

extension AddResult {
  init(line: Int? = nil, _ submission: Submission) {
    self.init(line: line, id: submission.id)
    if submission.existing {
      existing = true
      state = submission.state
    }
    guard let first = submission.blockedBy else { return }
    warning = "job \(submission.id) waits for job \(first), which uploads to the same URL"
  }
}

extension JobDetail {
  /// A job without its secrets.
  init(_ job: Job, _ record: JobRecord, _ attempts: [Attempt]) {
    let spec = record.spec
    self.init(job: job, options: spec.options.redacted(), attempts: attempts)
    secretHeaders = spec.options.headers.keys.filter(Secrets.isSecret(headerName:)).sorted()
    hasCredentials = spec.credentials != nil || spec.relay?.credentials != nil
    owner = spec.owner
    blockedBy = record.blockedBy
    isSpooled = spec.kind == .upload && spec.spool != nil
  }
}

extension JobRecord {
  /// `nil` if the job is in no batch.
  var batch: BatchID? { job.batch.map { BatchID(owner: spec.owner, name: $0) } }
}
