import TransferAPI

/// `status --watch`: the table again whenever something changed, at most 4 times a second.
actor StatusWatch {
  private let connection: Connection
  private let query: JobQuery
  private let isWide: Bool
  private var jobs: [JobID: Job] = [:]
  private var isChanged = false

  init(_ connection: Connection, _ query: JobQuery, isWide: Bool) {
    self.connection = connection
    self.query = query
    self.isWide = isWide
  }

  /// Ends only by an error.
  func run(from client: ControlClient) async throws {
    try await withThrowingTaskGroup(of: Void.self) { group in
      group.addTask { try await self.follow(from: client) }
      group.addTask {
        while true {
          try await self.draw()
          try await Task.sleep(for: .milliseconds(250))
        }
      }
      defer { group.cancelAll() }
      try await group.next()
    }
  }

  private func follow(from client: ControlClient) async throws {
    let feed = EventFeed(connection: connection, jobs: query.ids, batch: query.batch, progress: true)
    try await feed.follow(from: client) { client in
      let since = try await client.stats().lastEvent
      self.replace(try await client.jobs(self.query))
      return since
    } handle: { item, client in
      try await self.take(item, client)
      return true
    }
  }

  private func replace(_ all: [Job]) {
    jobs = Dictionary(all.map { ($0.id, $0) }, uniquingKeysWith: { $1 })
    isChanged = true
  }

  private func take(_ item: FeedItem, _ client: ControlClient) async throws {
    switch item {
    case .progress(let progress):
      guard jobs[progress.job]?.state == .running else { return }
      jobs[progress.job]?.bytesDone = progress.bytesDone
      jobs[progress.job]?.bytesTotal = progress.bytesTotal
      jobs[progress.job]?.bytesPerSecond = progress.bytesPerSecond
    case .event(let event):
      if let ids = query.ids, !ids.contains(event.job) { return }
      var one = query
      one.ids = [event.job]
      // Gone, or no longer what the filters ask for.
      let job = try await client.jobs(one).first
      if job == nil, jobs[event.job] == nil { return }
      jobs[event.job] = job
    }
    isChanged = true
  }

  private func draw() throws {
    guard isChanged else { return }
    isChanged = false
    let terminal = Terminal.output
    var shown = jobs.values.sorted { $0.id < $1.id }
    if terminal.isInteractive {
      let size = terminal.size
      // The header, a line that says how many more, and the cursor's.
      shown = Array(shown.prefix(max(1, size.rows - 3)))
      var table = JobTable(isWide: isWide, Paint(terminal), maximum: size.columns - 1)
      var lines = table.lines(shown)
      if shown.count < jobs.count { lines.append("and \(jobs.count - shown.count) more") }
      // Home, then each line with the rest of its row cleared, then what is below. ECMA-48: CUP, EL, ED
      try Output.standard.write("\u{1b}[H" + lines.map { $0 + "\u{1b}[K\n" }.joined() + "\u{1b}[J")
    } else {
      var table = JobTable(isWide: isWide, Paint(terminal))
      for line in table.lines(shown) + [""] { try Output.standard.line(line) }
    }
    try Output.standard.flush()
  }
}
