import TransferAPI

/// Waits until jobs have ended, and shows their progress.
actor Waiter {
  private let target: WaitTarget
  private let connection: Connection
  private let display: ProgressDisplay
  private var tracker = JobTracker()
  private var hasSeen = false
  /// Set while only sums are followed.
  private var sums: JobSums?
  /// The number of the newest event before the jobs were added; `nil` if the daemon must be asked for their states.
  private var beginning: Int64?
  /// Whether to print jobs that ended before the wait began.
  private let announcesEnded: Bool
  /// With more jobs than this, only failed ones are printed, and names are not requested: a request per job would cost
  /// too much.
  static let describedJobs = 100
  /// A batch that grows beyond this is followed by its sums.
  static let trackedJobs = 1000
  /// A larger file is shown long enough to request its name.
  private static let describedBytes: Int64 = 1 << 20

  /// - Parameters:
  ///   - beginning: the number of the newest event before the jobs were added, if all of them are new: the events since
  ///     then describe them completely.
  ///   - announcesEnded: whether to print jobs that ended before the wait began, as for jobs that were just added.
  init(
    _ target: WaitTarget, connection: Connection, beginning: Int64? = nil, announcesEnded: Bool = false,
    display: ProgressDisplay = .standardError()
  ) {
    self.target = target
    self.connection = connection
    self.beginning = beginning
    self.announcesEnded = announcesEnded
    self.display = display
  }

  /// - Returns: `done` if every job completed, `failed` if one did not (printed on standard error), or `timedOut`.
  /// - Throws: `CommandFailure` for unknown ids and batches, and if the daemon does not return.
  func run(from client: ControlClient, timeout: Duration? = nil) async throws -> ExitStatus {
    try await withThrowingTaskGroup(of: ExitStatus?.self) { group in
      group.addTask { try await self.follow(from: client) }
      group.addTask {
        while !Task.isCancelled {
          try? await Task.sleep(for: .milliseconds(250))
          await self.tick()
        }
        return nil
      }
      if let timeout {
        group.addTask {
          do { try await Task.sleep(for: timeout) } catch { return nil }
          return .timedOut
        }
      }
      defer { group.cancelAll() }
      do {
        while let end = try await group.next() {
          guard let end else { continue }
          finish(end)
          return end
        }
      } catch {
        display.clear()
        throw error
      }
      return .failed
    }
  }

  /// Prints a line in the place of the bars.
  private nonisolated var say: @Sendable (String) -> Void {
    { [display] words in
      display.clear()
      Notice.say(words)
    }
  }

  private func tick() {
    if let sums { display.tick(sums) } else { display.tick(tracker) }
  }

  /// Whether so many jobs were added meanwhile that only their sums should be kept.
  private var isTooLarge: Bool { target.idCount == nil && tracker.entries.count > Self.trackedJobs }

  /// Follows sums and failures: takes no memory for each job.
  private func followSums(from client: ControlClient) async throws -> ExitStatus {
    sums = JobSums()
    var feed = EventFeed(connection: connection, sums: true)
    feed.say = say
    if case .batch(let name) = target { feed.batch = name }
    var since: Int64?
    var last = client
    try await feed.follow(from: client) { client in
      last = client
      if let since { return since }
      since = try await client.stats().lastEvent
      return since
    } handle: { item, client in
      last = client
      switch item {
      case .progress: return true
      case .event(let event):
        since = max(since ?? 0, event.seq)
        if let words = self.takeFailure(event) { self.display.announce(words) }
        return true
      case .sums(let sums):
        self.sums?.read(sums)
        return !sums.isSettled
      }
    }
    display.clear()
    try await finishSums(last)
    return sums?.hasFailed ?? false ? .failed : .done
  }

  private func takeFailure(_ event: Event) -> String? {
    sums?.take(event, isOfAll: target == .all, isPrinted: !display.isInteractive)
  }

  /// Prints the failures that were not printed yet, and the sums.
  private func finishSums(_ client: ControlClient) async throws {
    guard let sums else { return }
    var query = JobQuery()
    if case .batch(let name) = target { query.batch = name }
    var states: [JobState] = [.failed, .cancelled].filter { sums.latest.counts[$0] > 0 }
    if sums.latest.failedActions > 0 { states.append(.completed) }
    for state in states {
      query.state = state
      var splitter = LineSplitter()
      try await client.jobLines(query) { chunk in
        for line in splitter.push(chunk) {
          let job = try ControlClient.job(from: line)
          guard state != .completed || job.action?.state == .failed, !sums.hasAnnounced(job.id) else { continue }
          Notice.say(JobTracker.words(of: job))
        }
      }
    }
    Notice.say(sums.results.line)
  }

  private func finish(_ status: ExitStatus) {
    display.clear()
    if let sums {
      guard status == .timedOut else { return }
      let unfinished = sums.latest.counts.unfinished
      return Notice.say("timed out with \(HumanNumbers.jobs(unfinished)) unfinished; the jobs continue")
    }
    switch status {
    case .timedOut:
      Notice.say("timed out with \(HumanNumbers.jobs(tracker.unfinished)) unfinished; the jobs continue")
    default:
      for failure in tracker.failures + tracker.unmoved where !display.hasAnnounced(failure.id) {
        Notice.say(failure.words)
      }
      Notice.say(tracker.results.line)
    }
  }

  private func follow(from client: ControlClient) async throws -> ExitStatus {
    if target.idCount == nil, try await target.count(client) > Self.describedJobs {
      return try await followSums(from: client)
    }
    var feed = EventFeed(connection: connection, progress: true)
    // Without bars, progress is one line in ten seconds: messages about each job four times a second would cost more than
    // many transfers.
    if !display.isInteractive { feed.every = 5 }
    feed.say = say
    switch target {
    case .ids(let ids): feed.jobs = ids
    case .batch(let name): feed.batch = name
    case .all: break
    }
    try await feed.follow(from: client) { client in
      if let since = self.beginNew() { return since }
      let since = try await client.stats().lastEvent
      let isFirst = !self.hasSeen
      try await self.readAll(client)
      if isFirst, self.announcesEnded { self.announceEnded() }
      return self.tracker.isSettled ? nil : since
    } handle: { item, client in
      let continues = try await self.take(item, client)
      return continues && !self.isTooLarge
    }
    if isTooLarge {
      // The sums do not show that a job was removed.
      let hasLost = tracker.entries.values.contains { $0.state == nil }
      tracker = JobTracker()
      let end = try await followSums(from: client)
      return hasLost ? .failed : end
    }
    return tracker.failures.isEmpty ? .done : .failed
  }

  /// Prints jobs that have already ended although they were just added.
  private func announceEnded() {
    guard tracker.entries.count <= Self.describedJobs else { return }
    for (id, entry) in tracker.entries.sorted(by: { $0.key < $1.key }) where entry.state != nil && entry.isSettled {
      display.announce(id, entry)
    }
  }

  /// Starts with many new jobs without a request: their events begin after `beginning`. Only for the first connection.
  private func beginNew() -> Int64? {
    guard case .ids(let ids) = target, ids.count > Self.describedJobs, !hasSeen, let since = beginning else {
      beginning = nil
      return nil
    }
    for id in ids { tracker.begin(id) }
    hasSeen = true
    return since
  }

  /// - Returns: whether to continue.
  private func take(_ item: FeedItem, _ client: ControlClient) async throws -> Bool {
    switch item {
    case .progress(let progress):
      tracker.apply(progress)
      if display.isInteractive, progress.bytesTotal ?? 0 > Self.describedBytes,
        tracker.entries[progress.job]?.name == ""
      {
        try await read(progress.job, client)
      }
      return true
    case .sums: return true
    case .event(let event):
      guard isAwaited(event.job) else { return true }
      let isNew = tracker.entries[event.job] == nil
      if isNew, event.kind == .changed || event.kind == .removed { return true }
      if event.kind == .changed, tracker.entries[event.job]?.action?.state == .pending {
        try await read(event.job, client)
        if let entry = tracker.entries[event.job], entry.isSettled { display.announce(event.job, entry) }
      }
      let state = tracker.apply(event)
      if isNew { try await read(event.job, client) }
      if state == .completed, tracker.entries.count <= Self.describedJobs {
        // A job that ended quickly has sent no size and perhaps no name.
        try await read(event.job, client)
      }
      if let state, state.isFinal, state != .completed || tracker.entries.count <= Self.describedJobs,
        let entry = tracker.entries[event.job], entry.isSettled
      {
        display.announce(event.job, entry)
      }
      guard tracker.isSettled else { return true }
      // The events describe new jobs completely, except that a retry of a failed job is not visible as such: ask then.
      if beginning != nil, tracker.failures.isEmpty { return false }
      // The stream repeats past events from its start, so this may not be the end: read the jobs again.
      try await readAll(client)
      return !tracker.isSettled
    }
  }

  /// Reads a job that the events do not describe completely.
  private func read(_ id: JobID, _ client: ControlClient) async throws {
    for job in try await client.jobs(JobQuery(ids: [id])) { tracker.read(job) }
  }

  private func isAwaited(_ id: JobID) -> Bool {
    if case .ids = target { return tracker.entries[id] != nil }
    return true
  }

  /// - Throws: `CommandFailure` for missing jobs at the first call; jobs that are missing later were removed.
  private func readAll(_ client: ControlClient) async throws {
    var query = JobQuery()
    switch target {
    case .ids(let ids): query.ids = ids
    case .batch(let name):
      if !hasSeen { _ = try await client.batch(name) }
      query.batch = name
    case .all: break
    }
    var missing = Set(tracker.entries.keys)
    if case .ids(let ids) = target { missing.formUnion(ids) }
    try await client.pages(query) { jobs in
      for job in jobs {
        tracker.read(job)
        missing.remove(job.id)
      }
    }
    if !hasSeen, !missing.isEmpty {
      for id in missing.sorted() { Notice.say("no job \(id)") }
      throw CommandFailure(.notFound)
    }
    for id in missing { tracker.remove(id) }
    hasSeen = true
  }
}
