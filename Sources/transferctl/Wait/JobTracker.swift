import TransferAPI
import WireValues

/// The state of the jobs that a command waits for. Job listings and events go in, sums come out; no I/O.
struct JobTracker: Sendable {
  struct Entry: Equatable, Sendable {
    /// `nil` if the job was removed.
    var state: JobState?
    var bytesDone: Int64 = 0
    var bytesTotal: Int64?
    var bytesPerSecond: Int64 = 0
    var name = ""
    var error: JobFailure?
    /// What a completed job has done.
    var result: JobResult?
    /// The follow-up action on an uploaded file.
    var action: FileAction?

    /// Whether the job and its file action have both ended, so that the next command may use the directory.
    var isSettled: Bool { (state?.isFinal ?? true) && action?.state != .pending }
  }

  private(set) var entries: [JobID: Entry] = [:]
  /// The number of jobs that have not ended.
  private(set) var unfinished = 0
  private(set) var counts = StateCounts()
  private(set) var running: Set<JobID> = []
  private var bytesDone: Int64 = 0
  private var bytesTotal: Int64 = 0
  /// The number of jobs whose size is unknown.
  private var unsized = 0

  var isSettled: Bool { unfinished == 0 }

  /// Records a job that was just added.
  mutating func begin(_ id: JobID) {
    update(id) { $0.state = .queued }
  }

  /// Records a job as the daemon lists it.
  mutating func read(_ job: Job) {
    update(job.id) { entry in
      entry.state = job.state
      entry.bytesDone = job.bytesDone
      entry.bytesTotal = job.bytesTotal
      entry.bytesPerSecond = job.bytesPerSecond
      entry.name = JobTable.name(of: job)
      entry.error = job.error
      entry.result = job.result
      entry.action = job.action
    }
  }

  /// Records that the daemon no longer has the job.
  mutating func remove(_ id: JobID) {
    update(id) { entry in
      entry.state = nil
      entry.action = nil
    }
  }

  /// - Returns: the job's new state; `nil` if the event did not change it.
  @discardableResult
  mutating func apply(_ event: Event) -> JobState? {
    switch event.kind {
    case .changed: return nil
    case .removed:
      remove(event.job)
      return nil
    case .added, .state:
      guard let state = event.to else { return nil }
      let before = entries[event.job]?.state
      update(event.job) { entry in
        entry.state = state
        entry.error = event.error
        entry.result = state == .completed ? event.result ?? .transferred : nil
        if state != .running { entry.bytesPerSecond = 0 }
        if state == .completed, let total = entry.bytesTotal { entry.bytesDone = total }
      }
      return before == state ? nil : state
    }
  }

  mutating func apply(_ progress: Progress) {
    // Progress that arrives after the job's end must not make it running again. With many jobs only final events are
    // streamed: there, progress is the first sign that a queued job runs.
    guard let state = entries[progress.job]?.state, state == .running || state == .queued else { return }
    update(progress.job) { entry in
      entry.state = .running
      entry.bytesDone = progress.bytesDone
      entry.bytesTotal = progress.bytesTotal
      entry.bytesPerSecond = progress.bytesPerSecond
    }
  }

  /// The bytes of all jobs. `total` is `nil` while the size of a job is unknown.
  var bytes: (done: Int64, total: Int64?) { (bytesDone, unsized == 0 ? bytesTotal : nil) }

  var bytesPerSecond: Int64 { running.reduce(0) { $0.saturatingSum(entries[$1]?.bytesPerSecond ?? 0) } }

  /// The jobs that did not complete, in the order of their ids, each with its reason.
  var failures: [(id: JobID, words: String)] {
    entries.filter { $0.value.state != .completed && $0.value.isSettled }
      .sorted { $0.key < $1.key }
      .map { ($0.key, Self.words($0.key, $0.value)) }
  }

  /// What the jobs have done, after their end.
  var results: WaitResults {
    var results = WaitResults()
    for entry in entries.values {
      if entry.state == .completed { results.completed[entry.result ?? .transferred] += 1 } else { results.failed += 1 }
    }
    return results
  }

  /// Completed uploads whose files could not be deleted or moved.
  var unmoved: [(id: JobID, words: String)] {
    entries.filter { $0.value.state == .completed && $0.value.action?.state == .failed }.sorted { $0.key < $1.key }
      .map { ($0.key, Self.words($0.key, $0.value)) }
  }

  /// How a job has ended.
  static func words(of job: Job) -> String {
    var tracker = JobTracker()
    tracker.read(job)
    return tracker.entries[job.id].map { words(job.id, $0) } ?? ""
  }

  static func words(_ id: JobID, _ entry: Entry) -> String {
    guard let state = entry.state else { return "job \(id) was removed" }
    switch state {
    case .failed:
      return "job \(id) failed" + (entry.error.map { ": \($0.text)" } ?? "")
    case .cancelled: return "job \(id) was cancelled"
    case .completed:
      let size =
        entry.bytesTotal == nil || entry.result ?? .transferred != .transferred
        ? "" : " (\(HumanNumbers.size(entry.bytesDone)))"
      let result = entry.result.flatMap { $0 == .transferred ? nil : " (\($0.rawValue))" } ?? ""
      let fault = entry.action?.state == .failed ? "; \(entry.action?.message ?? "its file stays")" : ""
      return "job \(id) completed: \(entry.name)\(size)\(result)\(fault)"
    case .queued, .running, .retrying, .paused: return "job \(id) is \(state.rawValue)"
    }
  }

  /// Changes an entry. All changes go through here, so that the sums stay correct.
  private mutating func update(_ id: JobID, _ change: (inout Entry) -> Void) {
    var entry = Entry(state: nil)
    if let known = entries[id] {
      entry = known
      count(known, id, by: -1)
    }
    change(&entry)
    entries[id] = entry
    count(entry, id, by: 1)
  }

  private mutating func count(_ entry: Entry, _ id: JobID, by step: Int) {
    if !entry.isSettled { unfinished += step }
    guard let state = entry.state else { return }
    counts[state] += step
    if state == .running {
      if step > 0 { running.insert(id) } else { running.remove(id) }
    }
    guard state != .failed, state != .cancelled else { return }
    // Sums of sizes that servers claim may exceed Int64.
    bytesDone &+= Int64(step) &* entry.bytesDone
    if let total = entry.bytesTotal {
      bytesTotal &+= Int64(step) &* total
    } else if state != .completed {
      unsized += step
    }
  }
}
