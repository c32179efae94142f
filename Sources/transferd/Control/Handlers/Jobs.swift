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
    let answer = AddResult(submission, in: request.caller.scope)
    return try Reply.json(
      answer, status: submission.existing ? .ok : .created, headers: [.location: "/v1/jobs/\(submission.id)"])
  }

  static let listJobs: RouteTable.Handler = { request, daemon in
    let limit = try request.integer("limit", in: 1...1000) ?? 100
    let after = try request.integer("after", in: Int64(0)...Int64.max).map { JobID($0) }
    let state = try request.state("state")
    let scope = try request.scope()
    let batch = try await request.batch(in: scope, daemon.store)
    await Turnstile.longAnswers.enter()
    defer { Turnstile.longAnswers.leave() }
    let records: [JobRecord]
    let next: JobID?
    if let ids = try request.ids("ids") {
      let wanted = Set(ids).sorted().filter { id in after.map { id > $0 } ?? true }.prefix(limit)
      next = wanted.count < limit ? nil : wanted.last
      // Those that are gone are left out: a client that needs to know compares.
      records = try await daemon.store.records(Array(wanted), in: scope).filter { batch == nil || $0.batch == batch }
    } else {
      records = try await daemon.store.jobs(state: state, batch: batch, after: after, limit: limit, in: scope)
      next = records.count < limit ? nil : records.last?.job.id
    }
    let jobs = records.map { daemon.scheduler.board.overlay($0.job) }
      .filter { state == nil || $0.state == state }
    return try Reply.json(JobPage(jobs: jobs, next: next))
  }

  static let showJob: RouteTable.Handler = { request, daemon in
    let id = try request.jobID()
    guard let (record, attempts) = try await daemon.store.detail(id, in: try request.scope()) else {
      throw StoreError.notFound(id)
    }
    return try Reply.json(
      JobDetail(
        job: daemon.scheduler.board.overlay(record.job), options: .init(record), attempts: attempts))
  }

  static let changeJob: RouteTable.Handler = { request, daemon in
    let id = try request.jobID()
    let change = try await request.body(JobChange.self)
    return try Reply.json(try await daemon.scheduler.update(id, change, in: request.caller.scope).get())
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
      return try Reply.json(daemon.scheduler.board.overlay(record.job))
    }
  }

  static func verbs(_ verb: JobVerb) -> RouteTable.Handler {
    { request, daemon in
      let selector = try await request.body(JobSelector.self)
      let scope = try request.scope()
      let selection = try await daemon.store.selection(of: selector, for: request.caller.uid, in: scope)
      return try Reply.json(try await daemon.scheduler.apply(verb, matching: selection, in: scope))
    }
  }
}

extension AddResult {
  /// - Parameter scope: the job that goes first is named only if the caller may see it.
  init(line: Int? = nil, _ submission: Submission, in scope: Scope) {
    self.init(line: line, id: submission.id)
    if submission.existing {
      existing = true
      state = submission.state
    }
    guard let first = submission.follows else { return }
    let isVisible = submission.followsOwner.map(scope.includes) ?? false
    let other = isVisible ? "job \(first), which uploads" : "another upload"
    warning = "job \(submission.id) waits for \(other) to the same URL"
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
    owner = spec.owner
    if !spec.secretHeaders.isEmpty { headerReferences = spec.secretHeaders }
    guard spec.kind == .upload else { return }
    upload = spec.upload.redacted
    if spec.spool != nil { isSpooled = true }
    follows = record.follows
  }
}

extension JobRecord {
  /// `nil` where the job is in none.
  var batch: BatchID? { job.batch.map { BatchID(owner: spec.owner, name: $0) } }
}
