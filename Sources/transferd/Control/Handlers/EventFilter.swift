import Store
import TransferAPI

/// Selects the events of a watcher.
struct EventFilter: Sendable {
  /// The jobs that the watcher may see.
  let scope: Scope
  var jobs: Set<JobID>?
  var batch: BatchID?
  /// Only events that end a job: final states and removals.
  var finalOnly = false
  /// Whether a job belongs to the batch, for jobs that were looked up before.
  private var known: [JobID: Bool] = [:]

  init(in scope: Scope, jobs: Set<JobID>? = nil, batch: BatchID? = nil, finalOnly: Bool = false) {
    // All jobs of a batch belong to its owner.
    self.scope = batch.map { .owner($0.owner) } ?? scope
    self.jobs = jobs
    self.batch = batch
    self.finalOnly = finalOnly
  }

  mutating func matching(_ events: [Event], _ store: Store) async throws -> [Event] {
    let wanted = events.filter { event in
      (jobs?.contains(event.job) ?? true) && (!finalOnly || event.to?.isFinal ?? true)
    }
    guard let batch else { return wanted }
    try await learn(Set(wanted.map(\.job)), batch, store)
    // The batch of a job that was removed before the lookup is not known. Its removal is sent in any case.
    return wanted.filter { event in (known[event.job] ?? false) || event.kind == .removed }
  }

  /// The progress messages of the selected jobs.
  mutating func matching(_ progress: [Progress], _ store: Store) async throws -> [Progress] {
    let wanted = progress.filter { jobs?.contains($0.job) ?? true }
    guard let batch else { return wanted }
    try await learn(Set(wanted.map(\.job)), batch, store)
    return wanted.filter { known[$0.job] ?? false }
  }

  private mutating func learn(_ jobs: Set<JobID>, _ batch: BatchID, _ store: Store) async throws {
    if known.count > 100_000 { known.removeAll() }
    let unknown = jobs.subtracting(known.keys)
    guard !unknown.isEmpty else { return }
    for id in unknown { known[id] = false }
    for id in try await store.values(of: Array(unknown), in: scope, { $0.batch == batch ? $0.job.id : nil }) {
      known[id] = true
    }
  }
}
