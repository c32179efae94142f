import FoundationEssentials
import Store
import TransferAPI

/// What people ask of stored jobs.
extension Scheduler {
  /// One job. Durable when it returns.
  func apply(_ verb: JobVerb, to id: JobID, in scope: Scope) async -> Result<JobRecord?, Problem> {
    let result = await apply(verb, to: [id], in: scope)
    if case .failure(let problem)? = result.first { return .failure(problem) }
    if verb == .retry { await openOrigins(of: [id], in: scope) }
    return .success(try? await store.job(id, in: scope))
  }

  /// All selected jobs, page by page. Explicit ids are answered one by one; other selectors pass over jobs whose state
  /// does not allow the verb.
  func apply(
    _ verb: JobVerb, matching selection: JobSelection, in scope: Scope
  ) async throws(Problem) -> VerbOutcome {
    var outcome = VerbOutcome(changed: 0, skipped: 0)
    if case .ids(let ids) = selection {
      let unknown = await ofUnknownOutcome(ids, verb, in: scope)
      for (id, result) in zip(ids, await apply(verb, to: ids, in: scope)) {
        switch result {
        case .success:
          outcome.changed += 1
          if unknown.contains(id) { outcome.sentAgain = (outcome.sentAgain ?? 0) + 1 }
        case .failure(let problem):
          outcome.skipped += problem.code == .notAllowed ? 1 : 0
          outcome.problems.append(.init(id: id, problem: problem))
        }
      }
      if verb == .retry { await openOrigins(of: ids, in: scope) }
      return outcome
    }
    do {
      var after: JobID?
      var busy: [JobID] = []
      func count(_ ids: [JobID], _ results: [JobID: Result<Bool, Problem>], _ unknown: Set<JobID> = []) {
        for id in ids {
          guard case .success(true)? = results[id] else {
            outcome.skipped += 1
            continue
          }
          outcome.changed += 1
          if unknown.contains(id) { outcome.sentAgain = (outcome.sentAgain ?? 0) + 1 }
        }
      }
      while case let ids = try await store.ids(matching: selection, after: after, limit: 500, in: scope),
        let last = ids.last
      {
        after = last
        let unknown = await ofUnknownOutcome(ids, verb, in: scope)
        let results = await applyToWaiting(verb, ids, in: scope)
        busy += ids.filter { results[$0] == nil }
        count(ids.filter { results[$0] != nil }, results, unknown)
      }
      // Last: who is stopped makes room, in which those of the later pages would begin.
      count(busy, await applyToRunning(verb, busy, in: scope))
      return outcome
    } catch {
      throw Problem(error)
    }
  }

  /// Uploads of which nobody knows whether the server has them; a retry sends them all the same, and says so.
  private func ofUnknownOutcome(_ ids: [JobID], _ verb: JobVerb, in scope: Scope) async -> Set<JobID> {
    guard verb == .retry, let records = try? await store.records(ids, in: scope) else { return [] }
    return Set(records.filter { $0.job.kind == .upload && $0.job.error?.code == .outcomeUnknown }.map(\.job.id))
  }

  /// Who names a job to be tried now does not mean: when its server may be asked again.
  private func openOrigins(of ids: [JobID], in scope: Scope) async {
    guard let records = try? await store.records(ids, in: scope) else { return }
    let now = Date()
    for name in Set(records.filter { $0.job.state == .queued }.map(\.spec.origin)) {
      guard let state = governor.open(name, now: now) else { continue }
      try? await store.blockOrigin(name, failures: state.failures, until: nil, at: now)
    }
    Task { await self.wake() }
  }

  /// - Returns: for each id whether it changed, or what stood in the way.
  private func apply(_ verb: JobVerb, to ids: [JobID], in scope: Scope) async -> [Result<Bool, Problem>] {
    // Before anything is stopped: a job out of scope must not notice.
    let found: [JobID]
    do {
      found = try await store.ids(matching: .ids(ids), limit: .max, in: scope)
    } catch {
      return ids.map { _ in .failure(Problem(error)) }
    }
    var results = await applyToWaiting(verb, found, in: scope)
    results.merge(await applyToRunning(verb, found.filter { results[$0] == nil }, in: scope)) { $1 }
    return ids.map { results[$0] ?? .failure(Problem(StoreError.notFound($0))) }
  }

  /// Those that do not run; a verb that stops nothing concerns them all.
  /// - Returns: without those that run.
  private func applyToWaiting(
    _ verb: JobVerb, _ ids: [JobID], in scope: Scope
  ) async -> [JobID: Result<Bool, Problem>] {
    let waiting = verb.stopReason == nil ? ids : ids.filter { active[$0] == nil }
    if verb == .cancel || verb == .remove { await removePartFiles(of: waiting, verb, in: scope) }
    let stored: [Result<Bool, StoreError>] =
      if let event = verb.event {
        zip(
          waiting,
          await store.transition(waiting, event, in: scope, at: Date(), reason: "\(verb.rawValue) by request")
        )
        .map { _, result in result.map { $0 != (try? $0.applying(event)) } }
      } else {
        await store.remove(waiting, in: scope, at: Date()).map { $0.map { true } }
      }
    var results: [JobID: Result<Bool, Problem>] = [:]
    for (id, result) in zip(waiting, stored) {
      let result = result.mapError { Problem($0, verb, id) }
      // Claimed between the look and the verb.
      if case .failure(let problem) = result, problem.isBusy, verb.stopReason != nil { continue }
      results[id] = result
    }
    if verb == .resume || verb == .retry { Task { await self.wake() } }
    if verb == .cancel || verb == .remove { await didLeave(waiting) }
    return results
  }

  /// Stops those that run, all at once, and waits for their ends.
  private func applyToRunning(
    _ verb: JobVerb, _ ids: [JobID], in scope: Scope
  ) async -> [JobID: Result<Bool, Problem>] {
    guard let reason = verb.stopReason, !ids.isEmpty else { return [:] }
    var results: [JobID: Result<Bool, Problem>] = [:]
    var busy = ids
    // Again where one has begun anew: a retry that is due even right after its last attempt.
    for _ in 0..<Self.roundsAgainstClaims where !busy.isEmpty {
      for id in busy { stop(id, reason) }
      for id in busy {
        await waitUntilIdle(id)
        results[id] = await outcome(of: verb, afterStopping: id, in: scope)
      }
      busy = busy.filter { if case .failure(let problem)? = results[$0] { problem.isBusy } else { false } }
    }
    if verb == .cancel || verb == .remove { await didLeave(ids) }
    return results
  }

  /// What came of stopping a running attempt: it may have ended in its own way first.
  private func outcome(of verb: JobVerb, afterStopping id: JobID, in scope: Scope) async -> Result<
    Bool, Problem
  > {
    if verb == .remove {
      // However the attempt ended, nothing of it stays.
      if let record = try? await store.job(id, in: scope), record.job.state != .completed {
        runner.removePartFile(of: record)
      }
      return await store.remove([id], in: scope, at: Date())[0].map { true }.mapError { Problem($0, verb, id) }
    }
    guard let event = verb.event, let state = (try? await store.job(id, in: scope))??.job.state else {
      return .failure(Problem(StoreError.notFound(id)))
    }
    do throws(InvalidTransition) {
      let wanted = try JobState.running.applying(event)
      if state == wanted { return .success(true) }
      _ = try state.applying(event)
    } catch {
      return .failure(Problem(.notAllowed, "\(error)"))
    }
    // It ended in a state that still allows the verb (retrying, say).
    if verb == .cancel, let record = try? await store.job(id, in: scope) { runner.removePartFile(of: record) }
    return await store.transition([id], event, in: scope, at: Date(), reason: "\(verb.rawValue) by request")[0]
      .map { _ in true }.mapError { Problem($0, verb, id) }
  }

  /// So often a wish follows a job that begins anew under its hands.
  private static let roundsAgainstClaims = 8

  /// The file before the row: a crash between the two leaves a job without its bytes, never bytes without a job.
  private func removePartFiles(of ids: [JobID], _ verb: JobVerb, in scope: Scope) async {
    guard let records = try? await store.records(ids, in: scope) else { return }
    for record in records
    where (record.job.startedAt != nil || record.spec.spool != nil) && record.job.state != .running {
      if verb == .cancel, (try? record.job.state.applying(.cancel)) == nil { continue }
      if record.job.state == .completed { continue }
      runner.removePartFile(of: record)
    }
  }

  /// Priority, rate limit, or another address of the same file. A new limit or address of a running job takes effect by a
  /// new attempt that goes on from the bytes on disk.
  func update(_ id: JobID, _ change: JobChange, in scope: Scope) async -> Result<ChangedJob, Problem> {
    do {
      if let priority = change.priority, !JobValidation.priorities.contains(priority) {
        return .failure(Problem(.invalid, "the priority must be from -1000 to 1000"))
      }
      if let rate = change.limitRate, rate < 0 {
        return .failure(Problem(.invalid, "the rate limit must be 0 (none) or more"))
      }
      // Before anything is stopped: a job out of scope must not notice.
      guard let known = try await store.job(id, in: scope) else { throw StoreError.notFound(id) }
      let address = try address(change, of: known)
      let mustRestart = (change.limitRate != nil || address != nil) && active[id]?.isFinishing == false
      if mustRestart {
        stop(id, .restart)
        await waitUntilIdle(id)
      }
      let before = try await store.job(id, in: scope)
      let record = try await store.update(
        id, priority: change.priority, limitRate: change.limitRate.map { $0 == 0 ? nil : $0 }, address: address,
        in: scope, at: Date())
      if let address, record.job.kind == .upload {
        try await readLines()
        // What the old place holds is to be taken back.
        if address.isElsewhere { await didLeave([]) }
      }
      Task { await self.wake() }
      return .success(ChangedJob(record, before: before))
    } catch let error as StoreError {
      return .failure(Problem(error))
    } catch let problem as Problem {
      return .failure(problem)
    } catch {
      return .failure(Problem(.internal, "\(error)"))
    }
  }
}

extension Scheduler {
  private func address(_ change: JobChange, of record: JobRecord) throws -> AddressChange? {
    guard let text = change.url else { return nil }
    let isUpload = record.job.kind == .upload
    let url = isUpload ? try JobValidation.target(text) : try JobValidation.downloadURL(text)
    var address = AddressChange(
      url: url.string, origin: url.origin,
      credentials: url.credentials.map { .init(username: $0.username, password: $0.password) })
    try runner.network.check([url.string], of: record.spec.owner)
    if runner.paths.isMember(record.spec.owner) {
      try PrivilegedCredentials.checkUnused(by: record.spec.upload, url, credentials: address.credentials)
    }
    guard isUpload else { return address }
    address.origin = try JobValidation.origin(of: url, record.spec.upload)
    // Another query (a new signature) means the same place.
    let old = try JobValidation.target(record.spec.destination)
    address.isElsewhere = old.origin != url.origin || old.path != url.path
    guard ["http", "https"].contains(url.scheme) else { return address }
    address.collection = record.spec.upload.collection.flatMap {
      UploadTemplate.collection(of: url.string, as: record.spec.destination, isIn: $0)
    }
    return address
  }
}

extension JobVerb {
  /// How it stops a running attempt; `nil` where it does not.
  fileprivate var stopReason: StopReason? {
    switch self {
    case .pause: .pause
    case .cancel: .cancel
    case .remove: .remove
    case .resume, .retry: nil
    }
  }
}

extension Problem {
  fileprivate init(_ error: StoreError, _ verb: JobVerb, _ id: JobID) {
    switch error {
    case .busy where verb.stopReason == nil:
      self.init(.notAllowed, "cannot \(verb.rawValue) a job that is running")
    case .busy: self = .busy
    case .invalid(let transition): self.init(.notAllowed, "\(transition)")
    default: self.init(error)
    }
  }

  private static let busy = Problem(.unavailable, "the job is running")
  fileprivate var isBusy: Bool { self == .busy }
}

extension ChangedJob {
  /// What `before` had for another server, and `record` has no more.
  fileprivate init(_ record: JobRecord, before: JobRecord?) {
    let names = { (spec: JobSpec) in Set(spec.headers.keys).union(spec.secretHeaders.keys) }
    self.init(
      job: record.job, droppedHeaders: before.map { names($0.spec).subtracting(names(record.spec)).sorted() } ?? [],
      droppedCredentials: before?.spec.credentialsReference != nil && record.spec.credentialsReference == nil)
  }
}
