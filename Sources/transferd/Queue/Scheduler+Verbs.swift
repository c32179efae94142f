import FoundationEssentials
import Store
import TransferAPI
import TransferEngine

/// The verbs that users apply to stored jobs.
extension Scheduler {
  /// Applies a verb to one job. The change is durable when this returns.
  func apply(_ verb: JobVerb, to id: JobID, in scope: Scope) async -> Result<JobRecord?, Problem> {
    let result = await apply(verb, to: [id], in: scope)
    if case .failure(let problem)? = result.first { return .failure(problem) }
    if verb == .retry { await openOrigins(of: [id], in: scope) }
    return .success(try? await store.job(id, in: scope))
  }

  /// Applies a verb to all selected jobs. Explicit ids each have their own result. Other selectors skip jobs whose state does
  /// not allow the verb; they change most jobs by a few statements for thousands of them, and the rest page by page.
  /// - Throws: if the store cannot be read, or a change of a job cannot be stored; other jobs may have changed.
  func apply(
    _ verb: JobVerb, matching selection: JobSelection, in scope: Scope
  ) async throws(Problem) -> VerbOutcome {
    var outcome = VerbOutcome(changed: 0, skipped: 0)
    if case .ids(let ids) = selection {
      let unknown = await uploadsWithUnknownOutcome(ids, verb, in: scope)
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
    var failure: Problem?
    do {
      let group = try await store.apply(verb, toAll: selection, in: scope, at: Date(), reason: verb.reason)
      outcome.changed = group.changed
      outcome.skipped = group.skipped
      if group.changed > 0 { await didChange(by: verb, []) }
      var busy: [JobID] = []
      func count(_ ids: [JobID], _ results: [JobID: Result<Bool, Problem>], _ unknown: Set<JobID> = []) {
        for id in ids {
          guard case .success(true)? = results[id] else {
            if case .failure(let problem)? = results[id], problem.isOfStore { failure = problem }
            outcome.skipped += 1
            continue
          }
          outcome.changed += 1
          if unknown.contains(id) { outcome.sentAgain = (outcome.sentAgain ?? 0) + 1 }
        }
      }
      for start in stride(from: 0, to: group.others.count, by: 500) {
        let ids = Array(group.others[start...].prefix(500))
        let unknown = await uploadsWithUnknownOutcome(ids, verb, in: scope)
        let results = await applyToWaiting(verb, ids, in: scope)
        busy += ids.filter { results[$0] == nil }
        count(ids.filter { results[$0] != nil }, results, unknown)
      }
      // Running jobs last: each stopped job frees a slot, in which waiting jobs of later pages would start.
      count(busy, await applyToRunning(verb, busy, in: scope))
    } catch {
      throw Problem(error)
    }
    if let failure { throw failure }
    return outcome
  }

  /// Uploads that the server may or may not have received. A retry sends them again, and the outcome reports their number.
  private func uploadsWithUnknownOutcome(_ ids: [JobID], _ verb: JobVerb, in scope: Scope) async -> Set<JobID> {
    guard verb == .retry else { return [] }
    let unknown = try? await store.values(of: ids, in: scope) { record -> JobID? in
      record.spec.transferKind == .upload && record.job.error?.code == .outcomeUnknown ? record.job.id : nil
    }
    return Set(unknown ?? [])
  }

  /// An explicit retry overrides the origin's Retry-After.
  private func openOrigins(of ids: [JobID], in scope: Scope) async {
    let origins = try? await store.values(of: ids, in: scope) { record -> String? in
      record.job.state == .queued ? record.spec.origin : nil
    }
    guard let origins else { return }
    let now = Date()
    for name in Set(origins) {
      guard let state = queue.governor.reopen(name, now: now) else { continue }
      try? await store.blockOrigin(name, failures: state.failures, until: nil, at: now)
    }
    wake()
  }

  /// - Returns: for each id whether the job changed, or why it could not change.
  private func apply(_ verb: JobVerb, to ids: [JobID], in scope: Scope) async -> [Result<Bool, Problem>] {
    // Check the scope first: a job that is out of scope must not be stopped.
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

  /// Applies a verb to the jobs that do not run. `resume` and `retry` stop nothing: they apply to every id.
  /// - Returns: results without the jobs that run.
  private func applyToWaiting(
    _ verb: JobVerb, _ ids: [JobID], in scope: Scope
  ) async -> [JobID: Result<Bool, Problem>] {
    let waiting = verb.stopReason == nil ? ids : ids.filter { active[$0] == nil }
    return await applyToStored(verb, waiting, in: scope)
  }

  /// Stops the jobs that run, all at once, and waits until their attempts are settled.
  private func applyToRunning(
    _ verb: JobVerb, _ ids: [JobID], in scope: Scope
  ) async -> [JobID: Result<Bool, Problem>] {
    guard let reason = verb.stopReason, !ids.isEmpty else { return [:] }
    let wanted = verb.event.flatMap { try? JobState.running.applying($0) }
    var results: [JobID: Result<Bool, Problem>] = [:]
    var busy = ids
    // A retry may be due directly after the last attempt; then the job is running again.
    for _ in 0..<Self.maximumStopRounds where !busy.isEmpty {
      stop(busy, reason)
      var unsettled: [JobID] = []
      for id in busy {
        do {
          let end = try await waitUntilIdle(id)
          // The attempt may have ended by itself before it was stopped.
          if end != nil, end == wanted { results[id] = .success(true) } else { unsettled.append(id) }
        } catch {
          results[id] = .failure(Problem(error))
        }
      }
      if verb == .cancel { await didWithdraw(busy) }
      let stored = await applyToStored(verb, unsettled, in: scope)
      for (id, result) in stored { results[id] = result.map { _ in true } }
      busy = unsettled.filter { stored[$0] == nil }
    }
    for id in busy { results[id] = .failure(.busy) }
    return results
  }

  /// Applies a verb to the stored jobs. Verbs on one job and on many jobs all use this method.
  /// - Returns: for each id whether it changed, or the reason why not; without the jobs that run and have to be stopped first.
  private func applyToStored(
    _ verb: JobVerb, _ ids: [JobID], in scope: Scope
  ) async -> [JobID: Result<Bool, Problem>] {
    guard !ids.isEmpty else { return [:] }
    if verb == .cancel || verb == .remove { await removePartFiles(of: ids, verb, in: scope) }
    let stored: [Result<Bool, StoreError>] =
      if let event = verb.event {
        await store.transition(ids, event, in: scope, at: Date(), reason: verb.reason)
          .map { $0.map { before in before != (try? before.applying(event)) } }
      } else {
        await store.remove(ids, in: scope, at: Date()).map { $0.map { true } }
      }
    var results: [JobID: Result<Bool, Problem>] = [:]
    for (id, result) in zip(ids, stored) {
      let result = result.mapError { Problem($0, verb, id) }
      if case .failure(let problem) = result, problem.isBusy, verb.stopReason != nil { continue }
      results[id] = result
    }
    await didChange(by: verb, ids)
    return results
  }

  /// Called after a verb changed stored jobs.
  /// - Parameter ids: those that may have blocked other uploads.
  private func didChange(by verb: JobVerb, _ ids: [JobID]) async {
    switch verb {
    case .resume: wake()
    case .retry:
      // A failed job may have a deadline that is still to come.
      checkTimes()
      resolveDependencies()
      wake()
    case .cancel, .remove: await didWithdraw(ids)
    case .pause: break
    }
  }

  /// Maximum number of times a job that runs again is stopped.
  private static let maximumStopRounds = 8

  /// Bytes of rows that are read at once.
  private static let recordBytes = 1 << 20

  /// Deletes part files. It must run before the row changes: a crash in between leaves a job without a part file, but never
  /// a part file without a job.
  private func removePartFiles(of ids: [JobID], _ verb: JobVerb, in scope: Scope) async {
    var rest = ids[...]
    var freesSpool = false
    while !rest.isEmpty {
      guard
        let (records, count) = try? await store.records(Array(rest.prefix(500)), upTo: Self.recordBytes, in: scope)
      else { break }
      rest = rest.dropFirst(count)
      let ending = records.filter { record in
        let state = record.job.state
        guard state != .running, state != .completed, record.job.startedAt != nil || record.spec.spool != nil else {
          return false
        }
        return verb == .remove || (try? state.applying(.cancel)) != nil
      }
      await runner.removePartFiles(of: ending)
      if ending.contains(where: { $0.spec.relay != nil }) { freesSpool = true }
    }
    if freesSpool { await spoolFreed() }
  }

  /// Changes the priority, the rate limit or the URL of a job in scope. A new URL of a running job starts a new attempt, which
  /// resumes from the bytes on disk; a new limit applies to the attempt that runs.
  /// - Parameters:
  ///   - change: checked by the intake.
  ///   - address: the effect of the new URL on this job.
  func update(
    _ id: JobID, _ change: JobChange, _ address: AddressChange?, in scope: Scope
  ) async -> Result<ChangedJob, Problem> {
    do {
      let mustRestart = address != nil && queue.attempts[id]?.phase == .transferring
      if mustRestart {
        stop([id], .restart)
        _ = try await waitUntilIdle(id)
      }
      let before = try await store.job(id, in: scope)
      let record = try await store.update(
        id, priority: change.priority, limitRate: change.limitRate.map { $0 == 0 ? nil : $0 }, address: address,
        in: scope, at: Date())
      if let priority = change.priority { send(.priorityChanged([id], priority)) }
      if change.limitRate != nil, active[id] != nil {
        active[id]?.isLimited = true
        runner.bandwidth.setLimit(record.spec.options.limitRate, of: id, record.spec.transferKind)
      }
      if let address, record.job.kind == .upload {
        try await loadBlockingUploads()
        // The unfinished upload at the old URL must be deleted.
        if address.isElsewhere { await didWithdraw([]) }
      }
      wake()
      return .success(ChangedJob(record, before: before))
    } catch let error as StoreError {
      return .failure(Problem(error))
    } catch {
      return .failure(Problem(.internal, "\(error)"))
    }
  }
}

extension JobVerb {
  /// How the verb stops a running attempt; `nil` if it does not.
  fileprivate var stopReason: StopReason? {
    switch self {
    case .pause: .pause
    case .cancel: .cancel
    case .remove: .remove
    case .resume, .retry: nil
    }
  }

  /// What the history says of a job that the verb changed.
  fileprivate var reason: String {
    switch self {
    case .pause: "paused by request"
    case .resume: "resumed by request"
    case .cancel: "cancelled by request"
    case .retry: "retried by request"
    case .remove: "removed by request"
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

  fileprivate static let busy = Problem(.unavailable, "the job is running")
  fileprivate var isBusy: Bool { self == .busy }
  /// Whether a change could not be stored, whatever the state of the job.
  fileprivate var isOfStore: Bool { [.diskFull, .internal].contains(code) }
}

extension JobOptions {
  /// Whether the other options have a reference or a client certificate that these do not have.
  fileprivate func lacksCredentials(of other: JobOptions) -> Bool {
    other.credentials != nil && credentials == nil || other.network.cert != nil && network.cert == nil
  }
}

extension ChangedJob {
  /// Reports the headers and credentials in `before` that `record` no longer has, because they were for another server.
  fileprivate init(_ record: JobRecord, before: JobRecord?) {
    let names = { (spec: JobSpec) in Set(spec.options.headers.keys).union(spec.options.secretHeaders.keys) }
    self.init(
      job: record.job, droppedHeaders: before.map { names($0.spec).subtracting(names(record.spec)).sorted() } ?? [],
      droppedCredentials: before.map { record.spec.options.lacksCredentials(of: $0.spec.options) } ?? false)
  }
}
