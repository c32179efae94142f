import FoundationEssentials
import Store
import TransferAPI

extension Scheduler {
  /// Checks and stores new jobs. When it returns, those with an id are durable.
  /// - Returns: for each, in order, the id or what is wrong with it.
  func submit(
    _ jobs: [Result<NewJob, Problem>], from caller: Caller
  ) async -> [Result<Submission, Problem>] {
    let validation = JobValidation(maxAttempts: limits.maxAttempts, caller: caller)
    var results: [Result<Submission, Problem>] = []
    var specs: [JobSpec] = []
    var positions: [Int] = []
    for (index, job) in jobs.enumerated() {
      do throws(Problem) {
        let spec = try validation.spec(try job.get())
        try runner.network.check(spec.userURLs, of: spec.owner)
        specs.append(spec)
        positions.append(index)
        results.append(.failure(Problem(.internal, "not stored")))
      } catch {
        results.append(.failure(error))
      }
    }
    // A known key answers the job that is there, whatever has become of its destination since.
    var fresh: [Int] = []
    let writeRules = runner.paths.rules(for: caller.uid, .write)
    let sources = SourceCheck(readRules: runner.paths.rules(for: caller.uid, .read), writeRules: writeRules)
    var destinations = DestinationCheck(rules: writeRules)
    var completed: [JobRecord] = []
    for (index, spec) in specs.enumerated() {
      if let key = spec.key, let known = try? await store.job(key: key, owner: caller.uid) {
        results[positions[index]] = .success(Submission(id: known.job.id, existing: true, state: known.job.state))
        completed.append(known)
        if let token = spec.spool, token != known.spec.spool { runner.spools.remove(token, in: caller.scope) }
        continue
      }
      do throws(Problem) {
        switch spec.kind {
        case .download: try destinations.check(spec)
        case .upload:
          if let token = spec.spool { specs[index].source = try await commitSpool(token, in: caller.scope) }
          try sources.check(specs[index])
        }
        fresh.append(index)
      } catch {
        results[positions[index]] = .failure(error)
      }
    }
    await retryFileActions(of: completed)
    guard !isStopping else {
      for index in fresh { results[positions[index]] = .failure(Problem(.unavailable, "the daemon is stopping")) }
      return results
    }
    let stored = await store.submit(fresh.map { specs[$0] }, in: caller.scope, at: Date())
    for (index, result) in zip(fresh, stored) {
      results[positions[index]] = result.mapError(Problem.init)
      if let first = (try? result.get())?.follows { followed.insert(first) }
    }
    if stored.contains(where: { (try? $0.get())?.existing == false }) { Task { await self.wake() } }
    return results
  }

  private func commitSpool(_ token: String, in scope: Scope) async throws(Problem) -> String {
    let spools = runner.spools
    return try await BlockingWork.run { Result { () throws(Problem) in try spools.commit(token, in: scope) } }.get()
  }
}

extension Problem {
  /// The store's errors in the contract's words.
  init(_ error: StoreError) {
    switch error {
    case .notFound, .noSuchBatch: self.init(.notFound, error.description)
    case .ambiguousBatch: self.init(.invalid, error.description)
    case .destinationTaken: self.init(.destinationExists, error.description)
    case .invalid, .busy, .urlChangeNotAllowed: self.init(.notAllowed, error.description)
    case .diskFull: self.init(.diskFull, error.description)
    case .closed: self.init(.unavailable, "the daemon is stopping")
    case .newerVersion, .damaged, .readOnly, .io: self.init(.internal, error.description)
    }
  }
}
