import FoundationEssentials
import Store
import TransferAPI

extension Scheduler {
  /// Checks and stores new jobs. When it returns, those with an id are durable.
  /// - Returns: for each, in order, the id or what is wrong with it.
  func submit(_ jobs: [Result<NewJob, Problem>]) async -> [Result<Submission, Problem>] {
    let validation = JobValidation(maxAttempts: limits.maxAttempts)
    var results: [Result<Submission, Problem>] = []
    var specs: [JobSpec] = []
    var positions: [Int] = []
    for (index, job) in jobs.enumerated() {
      do throws(Problem) {
        let spec = try validation.spec(try job.get())
        specs.append(spec)
        positions.append(index)
        results.append(.failure(Problem(.internal, "not stored")))
      } catch {
        results.append(.failure(error))
      }
    }
    // A known key answers the job that is there, whatever has become of its destination since.
    var fresh: [Int] = []
    var destinations = DestinationCheck()
    for (index, spec) in specs.enumerated() {
      if let key = spec.key, let known = try? await store.job(key: key) {
        results[positions[index]] = .success(Submission(id: known.job.id, existing: true, state: known.job.state))
        continue
      }
      do throws(Problem) {
        try destinations.check(spec)
        fresh.append(index)
      } catch {
        results[positions[index]] = .failure(error)
      }
    }
    guard !isStopping else {
      for index in fresh { results[positions[index]] = .failure(Problem(.unavailable, "the daemon is stopping")) }
      return results
    }
    let stored = await store.submit(fresh.map { specs[$0] }, at: Date())
    for (index, result) in zip(fresh, stored) {
      results[positions[index]] = result.mapError(Problem.init)
    }
    if stored.contains(where: { (try? $0.get())?.existing == false }) { Task { await self.wake() } }
    return results
  }
}

extension Problem {
  /// The store's errors in the contract's words.
  init(_ error: StoreError) {
    switch error {
    case .notFound, .noSuchBatch: self.init(.notFound, error.description)
    case .destinationTaken: self.init(.destinationExists, error.description)
    case .invalid, .busy, .urlChangeNotAllowed: self.init(.notAllowed, error.description)
    case .diskFull: self.init(.diskFull, error.description)
    case .closed: self.init(.unavailable, "the daemon is stopping")
    case .newerVersion, .damaged, .readOnly, .io: self.init(.internal, error.description)
    }
  }
}
