import TransferAPI
import WireValues

/// What a waiting command knows of its jobs. Pure: reading and events go in, numbers come out.
struct JobBoard: Sendable {
  struct Entry: Equatable, Sendable {
    /// `nil`: removed.
    var state: JobState?
    var bytesDone: Int64 = 0
    var bytesTotal: Int64?
    var bytesPerSecond: Int64 = 0
    var name = ""
    var error: JobFailure?
    /// What becomes of an uploaded file.
    var action: FileAction?

    /// A file that is still to be moved is waited for: whoever waited goes on with what is left in the directory.
    var isSettled: Bool { (state?.isFinal ?? true) && action?.state != .pending }
  }

  private(set) var entries: [JobID: Entry] = [:]
  /// How many have not ended.
  private(set) var unfinished = 0
  private(set) var counts = StateCounts()
  private(set) var running: Set<JobID> = []
  private var bytesDone: Int64 = 0
  private var bytesTotal: Int64 = 0
  /// Jobs whose size nobody knows yet.
  private var unsized = 0

  var isSettled: Bool { unfinished == 0 }

  /// A job that was added a moment ago.
  mutating func begin(_ id: JobID) {
    update(id) { $0.state = .queued }
  }

  /// As read from the daemon.
  mutating func read(_ job: Job) {
    update(job.id) { entry in
      entry.state = job.state
      entry.bytesDone = job.bytesDone
      entry.bytesTotal = job.bytesTotal
      entry.bytesPerSecond = job.bytesPerSecond
      entry.name = JobTable.name(of: job)
      entry.error = job.error
      entry.action = job.action
    }
  }

  /// The daemon no longer has it.
  mutating func remove(_ id: JobID) {
    update(id) { entry in
      entry.state = nil
      entry.action = nil
    }
  }

  /// - Returns: the state the job came to by this event; `nil` where its state did not change.
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
        if state != .running { entry.bytesPerSecond = 0 }
        if state == .completed, let total = entry.bytesTotal { entry.bytesDone = total }
      }
      return before == state ? nil : state
    }
  }

  mutating func apply(_ progress: Progress) {
    // A number that was under way when the job ended must not make it run again. Of many jobs only the ends are told:
    // there a number is the first sign that one runs.
    guard let state = entries[progress.job]?.state, state == .running || state == .queued else { return }
    update(progress.job) { entry in
      entry.state = .running
      entry.bytesDone = progress.bytesDone
      entry.bytesTotal = progress.bytesTotal
      entry.bytesPerSecond = progress.bytesPerSecond
    }
  }

  /// Bytes of all jobs. `total` is `nil` while a job's size is unknown.
  var bytes: (done: Int64, total: Int64?) { (bytesDone, unsized == 0 ? bytesTotal : nil) }

  var bytesPerSecond: Int64 { running.reduce(0) { $0.saturatingSum(entries[$1]?.bytesPerSecond ?? 0) } }

  /// The jobs that did not complete, in the order of their ids, each with words why.
  var failures: [(id: JobID, words: String)] {
    entries.filter { $0.value.state != .completed && $0.value.isSettled }
      .sorted { $0.key < $1.key }
      .map { ($0.key, Self.words($0.key, $0.value)) }
  }

  /// Uploads that completed, whose files could not be deleted or moved.
  var unmoved: [(id: JobID, words: String)] {
    entries.filter { $0.value.state == .completed && $0.value.action?.state == .failed }.sorted { $0.key < $1.key }
      .map { ($0.key, Self.words($0.key, $0.value)) }
  }

  static func words(_ id: JobID, _ entry: Entry) -> String {
    guard let state = entry.state else { return "job \(id) was removed" }
    switch state {
    case .failed:
      guard let error = entry.error else { return "job \(id) failed" }
      return "job \(id) failed: \(error.message) (\(error.code))"
    case .cancelled: return "job \(id) was cancelled"
    case .completed:
      let size = entry.bytesTotal == nil ? "" : " (\(HumanNumbers.size(entry.bytesDone)))"
      let fault = entry.action?.state == .failed ? "; \(entry.action?.message ?? "its file stays")" : ""
      return "job \(id) completed: \(entry.name)\(size)\(fault)"
    case .queued, .running, .retrying, .paused: return "job \(id) is \(state.rawValue)"
    }
  }

  /// The only door to an entry: keeps every sum in step.
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
    // Sums of what servers claim may pass Int64.
    bytesDone &+= Int64(step) &* entry.bytesDone
    if let total = entry.bytesTotal {
      bytesTotal &+= Int64(step) &* total
    } else if state != .completed {
      unsized += step
    }
  }
}
