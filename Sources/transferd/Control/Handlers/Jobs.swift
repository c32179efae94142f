import FoundationEssentials
import HTTPTypes
import Hummingbird
import NIOCore
import Store
import TransferAPI

extension Handlers {
  /// One job; 201 and its id once it is durable, 200 where the key was known.
  static let addJob: RouteTable.Handler = { request, daemon in
    var job = try await request.body(NewJob.self)
    if job.key == nil, let name = HTTPField.Name("Idempotency-Key") { job.key = request.request.headers[name] }
    let submission = try await daemon.scheduler.submit([.success(job)], from: request.caller)[0].get()
    let answer = AddResult(submission)
    return try Reply.json(
      answer, status: submission.existing ? .ok : .created, headers: [.location: "/v1/jobs/\(submission.id)"])
  }

  static let listJobs: RouteTable.Handler = { request, daemon in
    let limit = try request.integer("limit", in: 1...1000) ?? 100
    let after = try request.integer("after", in: Int64(0)...Int64.max).map { JobID($0) }
    let state = try request.state("state")
    let batch = request.query("batch")
    if let batch, try await !daemon.store.batchExists(batch) { throw Problem(.notFound, "no batch \"\(batch)\"") }
    await Turnstile.longAnswers.enter()
    defer { Turnstile.longAnswers.leave() }
    let records: [JobRecord]
    let next: JobID?
    if let ids = try request.ids("ids") {
      let wanted = Set(ids).sorted().filter { id in after.map { id > $0 } ?? true }.prefix(limit)
      next = wanted.count < limit ? nil : wanted.last
      // Those that are gone are left out: a client that needs to know compares.
      records = try await daemon.store.records(Array(wanted)).filter { batch == nil || $0.job.batch == batch }
    } else {
      records = try await daemon.store.jobs(state: state, batch: batch, after: after, limit: limit)
      next = records.count < limit ? nil : records.last?.job.id
    }
    let jobs = records.map { daemon.scheduler.board.overlay($0.job) }
      .filter { state == nil || $0.state == state }
    return try Reply.json(JobPage(jobs: jobs, next: next))
  }

  static let showJob: RouteTable.Handler = { request, daemon in
    let id = try request.jobID()
    guard let (record, attempts) = try await daemon.store.detail(id) else { throw Problem(.notFound, "no job \(id)") }
    return try Reply.json(
      JobDetail(
        job: daemon.scheduler.board.overlay(record.job), options: .init(record), attempts: attempts))
  }

  static let changeJob: RouteTable.Handler = { request, daemon in
    let id = try request.jobID()
    let change = try await request.body(JobChange.self)
    return try Reply.json(try await daemon.scheduler.update(id, change).get())
  }

  static let removeJob: RouteTable.Handler = { request, daemon in
    _ = try await daemon.scheduler.apply(.remove, to: try request.jobID()).get()
    return Response(status: .noContent)
  }

  static func verb(_ verb: JobVerb) -> RouteTable.Handler {
    { request, daemon in
      let id = try request.jobID()
      guard let record = try await daemon.scheduler.apply(verb, to: id).get() else {
        throw Problem(.notFound, "no job \(id)")
      }
      return try Reply.json(daemon.scheduler.board.overlay(record.job))
    }
  }

  static func verbs(_ verb: JobVerb) -> RouteTable.Handler {
    { request, daemon in
      let selector = try await request.body(JobSelector.self)
      return try Reply.json(try await daemon.scheduler.apply(verb, matching: selector))
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
    warning = submission.follows.map { "job \(submission.id) waits for job \($0), which uploads to the same URL" }
  }
}

extension JobDetail.Options {
  /// Secret values stay behind.
  init(_ record: JobRecord) {
    let spec = record.spec
    let secret = spec.headers.keys.filter { Secrets.isSecret(headerName: $0) }.sorted()
    self.init(
      headers: spec.headers.filter { !secret.contains($0.key) }, secretHeaders: secret,
      hasCredentials: spec.credentials != nil, replace: spec.replace, createDirectories: spec.createDirectories,
      nameFromResponse: spec.nameFromResponse, limitRate: spec.limitRate, connectTimeout: spec.connectTimeout,
      stallTimeout: spec.stallTimeout)
    credentials = spec.credentialsReference
    if !spec.secretHeaders.isEmpty { headerReferences = spec.secretHeaders }
    guard spec.kind == .upload else { return }
    upload = spec.upload.redacted
    if spec.spool != nil { isSpooled = true }
    follows = record.follows
  }
}
