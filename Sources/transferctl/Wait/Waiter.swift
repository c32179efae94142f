import TransferAPI

/// Which jobs are waited for. Jobs that join a batch, or the daemon, in the meantime are waited for too.
enum WaitTarget: Equatable, Sendable {
  case ids([JobID])
  case batch(String)
  case all
}

/// Waits until jobs have ended, and shows how they go on.
actor Waiter {
  private let target: WaitTarget
  private let connection: Connection
  private let display: ProgressDisplay
  private var board = JobBoard()
  private var hasSeen = false
  /// The history from which on everything about the jobs is told: nothing has to be asked for.
  private var beginning: Int64?
  /// Whether jobs that had ended before the waiting began are told of.
  private let tellsEnded: Bool
  /// Of more jobs than these only the failed ones are told one by one, and their names are not asked for: a question a
  /// job would cost too much.
  static let describedJobs = 100
  /// A larger file has a line of its own on the screen for long enough to be worth the question for its name.
  private static let describedBytes: Int64 = 1 << 20

  /// - Parameter beginning: the newest event's number before the jobs, all of them new, were added: the events since then
  ///   say all there is to know of them.
  /// - Parameter tellsEnded: for jobs that were just added.
  init(
    _ target: WaitTarget, connection: Connection, beginning: Int64? = nil, tellsEnded: Bool = false,
    display: ProgressDisplay = .standardError()
  ) {
    self.target = target
    self.connection = connection
    self.beginning = beginning
    self.tellsEnded = tellsEnded
    self.display = display
  }

  /// - Returns: `done` if every job completed, `failed` if one did not (said on standard error), `timedOut`.
  /// - Throws: `CommandFailure` for unknown ids and batches, and for a daemon that stays away.
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

  private func tick() { display.tick(board) }

  private func finish(_ status: ExitStatus) {
    display.clear()
    switch status {
    case .timedOut:
      Notice.say("timed out with \(HumanNumbers.jobs(board.unfinished)) unfinished; the jobs go on")
    default:
      for failure in board.failures + board.unmoved where !display.hasAnnounced(failure.id) {
        Notice.say(failure.words)
      }
      if board.entries.count > Self.describedJobs {
        Notice.say("\(HumanNumbers.jobs(board.entries.count)): \(ProgressLine.counts(of: board))")
      }
    }
  }

  private func follow(from client: ControlClient) async throws -> ExitStatus {
    var feed = EventFeed(connection: connection, progress: true)
    feed.say = { [display] words in
      display.clear()
      Notice.say(words)
    }
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
      if isFirst, self.tellsEnded { self.announceEnded() }
      return self.board.isSettled ? nil : since
    } handle: { item, client in
      try await self.take(item, client)
    }
    return board.failures.isEmpty ? .done : .failed
  }

  /// Jobs that were added a moment ago and have ended already: nobody has been told of them.
  private func announceEnded() {
    guard board.entries.count <= Self.describedJobs else { return }
    for (id, entry) in board.entries.sorted(by: { $0.key < $1.key }) where entry.state != nil && entry.isSettled {
      display.announce(id, entry, board)
    }
  }

  /// New jobs in great number: they were queued when their history began. Only with the first connection.
  private func beginNew() -> Int64? {
    guard case .ids(let ids) = target, ids.count > Self.describedJobs, !hasSeen, let since = beginning else {
      beginning = nil
      return nil
    }
    for id in ids { board.begin(id) }
    hasSeen = true
    return since
  }

  /// - Returns: whether to go on.
  private func take(_ item: FeedItem, _ client: ControlClient) async throws -> Bool {
    switch item {
    case .progress(let progress):
      board.apply(progress)
      if display.isInteractive, progress.bytesTotal ?? 0 > Self.describedBytes,
        board.entries[progress.job]?.name == ""
      {
        for job in try await client.jobs(JobQuery(ids: [progress.job])) { board.read(job) }
      }
      return true
    case .event(let event):
      guard isAwaited(event.job) else { return true }
      let isNew = board.entries[event.job] == nil
      if isNew, event.kind == .changed || event.kind == .removed { return true }
      if event.kind == .changed, board.entries[event.job]?.action?.state == .pending {
        for job in try await client.jobs(JobQuery(ids: [event.job])) { board.read(job) }
        if let entry = board.entries[event.job], entry.isSettled { display.announce(event.job, entry, board) }
      }
      let state = board.apply(event)
      if isNew { for job in try await client.jobs(JobQuery(ids: [event.job])) { board.read(job) } }
      if state == .completed, board.entries.count <= Self.describedJobs {
        // What ended quickly told no size and perhaps no name before.
        for job in try await client.jobs(JobQuery(ids: [event.job])) { board.read(job) }
      }
      if let state, state.isFinal, state != .completed || board.entries.count <= Self.describedJobs,
        let entry = board.entries[event.job], entry.isSettled
      {
        display.announce(event.job, entry, board)
      }
      guard board.isSettled else { return true }
      // Of new jobs all is told, but for one that failed and was retried: its new beginning is no end.
      if beginning != nil, board.failures.isEmpty { return false }
      // The stream tells the past again from where it began, so this may not be the end: ask.
      try await readAll(client)
      return !board.isSettled
    }
  }

  private func isAwaited(_ id: JobID) -> Bool {
    if case .ids = target { return board.entries[id] != nil }
    return true
  }

  /// - Throws: `CommandFailure` for what does not exist, when asked for the first time. Later it was removed.
  private func readAll(_ client: ControlClient) async throws {
    var query = JobQuery()
    switch target {
    case .ids(let ids): query.ids = ids
    case .batch(let name):
      if !hasSeen { _ = try await client.batch(name) }
      query.batch = name
    case .all: break
    }
    var missing = Set(board.entries.keys)
    if case .ids(let ids) = target { missing.formUnion(ids) }
    try await client.pages(query) { jobs in
      for job in jobs {
        board.read(job)
        missing.remove(job.id)
      }
    }
    if !hasSeen, !missing.isEmpty {
      for id in missing.sorted() { Notice.say("no job \(id)") }
      throw CommandFailure(.notFound)
    }
    for id in missing { board.remove(id) }
    hasSeen = true
  }
}
