import FoundationEssentials
import HTTPServer
import NIOCore
import NIOHTTP1
import Store
import TransferAPI

extension Handlers {
  /// Jobs: a page as one JSON value, or all of them as lines for a client that accepts `application/x-ndjson`.
  static let listJobs: RouteTable.Handler = { request, daemon in
    let wantsLines = request.header("Accept")?.lowercased().contains("application/x-ndjson") ?? false
    let limit = try request.integer("limit", in: 1...(wantsLines ? .max : 1000)) ?? (wantsLines ? .max : 100)
    var list = try await JobListing(request, daemon)
    guard wantsLines else {
      await AsyncSemaphore.longResponses.enter(for: request.caller.uid)
      defer { AsyncSemaphore.longResponses.leave() }
      let jobs = try await list.next(limit)
      return try Reply.json(JobPage(jobs: jobs, next: list.nextID), for: request.request)
    }
    return Reply.lines { [list] writer in
      var list = list
      var left = limit
      while left > 0, !list.isAtEnd {
        let page = try await lines(&list, &left)
        try await writer.write(page)
      }
    }
  }

  private static func lines(_ list: inout JobListing, _ left: inout Int) async throws -> ByteBuffer {
    await AsyncSemaphore.longResponses.enter(for: list.user)
    defer { AsyncSemaphore.longResponses.leave() }
    var text = JSONText()
    for job in try await list.next(min(left, JobListing.pageSize)) {
      try JobLine().write(job, to: &text)
      left -= 1
    }
    return ByteBuffer(bytes: text.bytes)
  }
}

/// A list of jobs that is read page by page.
struct JobListing: Sendable {
  /// Jobs of one page of lines: about `Reply.pieceBytes`, which a client that does not read holds in memory.
  static let pageSize = 200

  private let daemon: DaemonServices
  /// Who asked for the list.
  let user: UInt32
  private let scope: Scope
  private let state: JobState?
  private let batch: BatchID?
  private let order: JobOrder
  /// The ids that are left, in the order of the list; `nil`: all jobs.
  private var ids: ArraySlice<JobID>?
  private var cursor: JobListCursor?
  private(set) var isAtEnd = false
  /// Pass as `after` for the next page.
  private(set) var nextID: JobID?

  /// - Throws: `Problem` for parameters that cannot be used together.
  init(_ request: ControlRequest, _ daemon: DaemonServices) async throws {
    self.daemon = daemon
    user = request.caller.uid
    scope = try request.scope()
    state = try request.state("state")
    let order = try request.query("order").map { text throws(Problem) in
      guard let order = JobOrder(rawValue: text) else {
        throw Problem(.invalid, "order must be one of \(JobOrder.allCases.map(\.rawValue).joined(separator: ", "))")
      }
      return order
    }
    self.order = order ?? .id
    let after = try request.integer("after", in: Int64(0)...Int64.max).map { JobID($0) }
    guard after == nil || order != .priority else {
      throw Problem(.invalid, "after is for the orders id and newest")
    }
    cursor = after.map { JobListCursor(after: $0) }
    batch = try await request.batch(in: scope, daemon.store)
    guard let ids = try request.ids("ids") else { return }
    guard order == nil || order == .id else { throw Problem(.invalid, "ids are listed in ascending order; omit order") }
    self.ids = Set(ids).sorted().filter { id in after.map { id > $0 } ?? true }[...]
  }

  /// The next jobs, with the live numbers of running ones.
  mutating func next(_ limit: Int) async throws -> [Job] {
    if let ids { return try await next(of: ids, limit) }
    let page = try await daemon.store.jobList(
      state: state, batch: batch, order: order, from: cursor, limit: limit, in: scope)
    (cursor, isAtEnd) = (page.next, page.next == nil)
    nextID = page.next == nil || order == .priority ? nil : page.jobs.last?.job.id
    return await overlaid(page.jobs)
  }

  private mutating func next(of ids: ArraySlice<JobID>, _ limit: Int) async throws -> [Job] {
    let wanted = Array(ids.prefix(limit))
    self.ids = ids.dropFirst(limit)
    isAtEnd = ids.count <= limit
    nextID = wanted.count < limit ? nil : wanted.last
    // Ids without a job are left out; the client can compare.
    let found = try await daemon.store.jobList(ids: wanted, in: scope).filter { batch == nil || $0.batch == batch }
    return await overlaid(found.map(\.job))
  }

  /// The jobs as they are now: live numbers of running ones, and why the others wait.
  private func overlaid(_ jobs: [ListedJob]) async -> [Job] {
    let queue = jobs.contains { $0.waitFacts != nil } ? await daemon.scheduler.queue : nil
    let now = Date()
    return jobs.map { listed in
      var job = listed.job.state == .running ? daemon.scheduler.tracker.overlay(listed.job) : listed.job
      if let facts = listed.waitFacts { job.waiting = queue?.waiting(job, facts, now: now) }
      return job
    }
    .filter { state == nil || $0.state == state }
  }
}
