import FoundationEssentials
import Store
import TransferAPI

/// Adds jobs: validates requests, checks the file system, stores the jobs and notifies the scheduler.
///
/// Everything that may block (`stat(2)`, `access(2)`, the spool) runs on the blocking threads. The scheduler's actor makes no
/// system call, so one slow disk does not delay other callers.
struct JobIntake: Sendable {
  let store: Store
  let scheduler: Scheduler
  let paths: PathPolicy
  let network: NetworkRules
  let spools: SpoolDirectory

  /// Checks and stores new jobs. Jobs with an id are durable when this returns.
  /// - Returns: for each job, in order, its id or the reason why it was refused.
  func submit(_ jobs: [Result<NewJob, Problem>], from caller: Caller) async -> [Result<Submission, Problem>] {
    let validation = await validation(for: caller)
    let specs = jobs.map { job -> Result<JobSpec, Problem> in
      do throws(Problem) {
        let spec = try validation.spec(try job.get())
        try network.check(spec.userURLs, of: spec.owner)
        return .success(spec)
      } catch {
        return .failure(error)
      }
    }
    return await add(await checked(specs, from: caller), from: caller)
  }

  /// The rules for a caller's jobs.
  func validation(for caller: Caller) async -> JobValidation {
    JobValidation(maxAttempts: await scheduler.limits.maxAttempts, caller: caller)
  }

  /// Jobs whose files have been checked, ready to be stored.
  struct CheckedJobs: Sendable {
    fileprivate var drafts: [Draft]
    /// Stored jobs that have the keys of new ones.
    fileprivate var known: [JobRecord]
  }

  /// Looks for known keys, and checks the files of the others.
  /// - Parameter specs: the result of `JobValidation` for each job.
  func checked(_ specs: [Result<JobSpec, Problem>], from caller: Caller) async -> CheckedJobs {
    var drafts = specs.map { spec -> Draft in
      switch spec {
      case .success(let spec): .open(spec)
      case .failure(let problem): .decided(.failure(problem))
      }
    }
    let known = await findKnown(&drafts, from: caller)
    await checkFiles(&drafts, from: caller)
    return CheckedJobs(drafts: drafts, known: known)
  }

  /// Stores jobs. Jobs with an id are durable when this returns.
  /// - Returns: for each job, in order, its id or the reason why it was refused.
  func add(_ checked: CheckedJobs, from caller: Caller) async -> [Result<Submission, Problem>] {
    var drafts = checked.drafts
    await scheduler.retryFileActions(of: checked.known)
    if await scheduler.isStopping {
      for index in drafts.indices { drafts[index].refuse(Problem(.unavailable, "the daemon is stopping")) }
    }
    let open = drafts.indices.filter { drafts[$0].spec != nil }
    let haveTimes = drafts.contains { draft in
      guard let schedule = draft.spec?.options.schedule else { return false }
      return schedule.notBefore != nil || schedule.deadline != nil || schedule.window != nil
    }
    let haveDependencies = drafts.contains { $0.spec?.options.schedule.after.isEmpty == false }
    let specs = open.compactMap { drafts[$0].spec }
    let now = Date()
    let windows = WindowPlan(Set(specs.compactMap(\.options.schedule.window)), at: now, scheduler.localTime)
    let stored = await store.submit(specs, in: caller.scope, at: now, closedWindows: windows.closed)
    for (index, result) in zip(open, stored) { drafts[index] = .decided(result.mapError(Problem.init)) }
    await scheduler.didAdd(
      stored.compactMap { try? $0.get() }, haveTimes: haveTimes, haveDependencies: haveDependencies)
    return drafts.map(\.result)
  }

  /// A job on its way into the store.
  fileprivate enum Draft: Sendable {
    case open(JobSpec)
    case decided(Result<Submission, Problem>)

    var spec: JobSpec? {
      if case .open(let spec) = self { spec } else { nil }
    }

    /// Refuses the job unless it has a result already.
    mutating func refuse(_ problem: Problem) {
      if case .open = self { self = .decided(.failure(problem)) }
    }

    var result: Result<Submission, Problem> {
      switch self {
      case .decided(let result): result
      case .open: .failure(Problem(.internal, "the job was not stored"))
      }
    }
  }

  /// Finds jobs whose keys are stored already. They are not checked again, because their destination or source may have
  /// changed since.
  /// - Returns: the stored jobs.
  private func findKnown(_ drafts: inout [Draft], from caller: Caller) async -> [JobRecord] {
    var known: [JobRecord] = []
    var unused: [String] = []
    let keys = drafts.compactMap(\.spec?.key)
    guard !keys.isEmpty, let found = try? await store.jobs(keys: keys, owner: caller.uid) else { return [] }
    for index in drafts.indices {
      guard let spec = drafts[index].spec, let key = spec.key, let record = found[key] else { continue }
      drafts[index] = .decided(.success(Submission(id: record.job.id, existing: true, state: record.job.state)))
      known.append(record)
      if let token = spec.spool, token != record.spec.spool { unused.append(token) }
    }
    if !unused.isEmpty {
      let (spools, scope, tokens) = (spools, caller.scope, unused)
      await BlockingWork.run { for token in tokens { spools.remove(token, in: scope) } }
    }
    return known
  }

  /// Not for a job that is stored already: its deadline may have passed since.
  private static func checkDeadline(of spec: JobSpec, now: Date) throws(Problem) {
    guard let deadline = spec.options.schedule.deadline, deadline <= now else { return }
    throw Problem(.invalid, text: "\(field: "deadline") \(WireCoding.rfc3339(deadline)) has passed")
  }

  /// Checks the destinations and sources in the file system, and syncs spooled files to disk.
  private func checkFiles(_ drafts: inout [Draft], from caller: Caller) async {
    let specs = drafts.map(\.spec)
    guard specs.contains(where: { $0 != nil }) else { return }
    let (writeRules, readRules) = (paths.rules(for: caller.uid, .write), paths.rules(for: caller.uid, .read))
    let (spools, scope) = (spools, caller.scope)
    let now = Date()
    let checked = await BlockingWork.run {
      let sources = SourceCheck(readRules: readRules, writeRules: writeRules)
      var destinations = DestinationCheck(rules: writeRules)
      var connections = ConnectionCheck(rules: readRules)
      return specs.map { spec -> Result<JobSpec, Problem>? in
        guard var spec else { return nil }
        do throws(Problem) {
          try Self.checkDeadline(of: spec, now: now)
          try connections.check(spec.options.network)
          switch spec.kind {
          case .download, .listing: try destinations.check(spec)
          // Its copy is the daemon's own file.
          case .relay: break
          case .upload:
            if let token = spec.spool { spec.source = try spools.commit(token, in: scope) }
            try sources.check(spec)
          }
          return .success(spec)
        } catch {
          return .failure(error)
        }
      }
    }
    for (index, result) in zip(drafts.indices, checked) {
      switch result {
      case .success(let spec)?: drafts[index] = .open(spec)
      case .failure(let problem)?: drafts[index].refuse(problem)
      case nil: break
      }
    }
  }
}
