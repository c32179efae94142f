import TransferAPI

/// `status --watch`: redraws the table after changes, at most 4 times a second. It keeps no jobs: after a change it asks for
/// those that it shows.
actor StatusWatch {
  private let connection: Connection
  private let query: JobQuery
  private let isWide: Bool
  private var isChanged = true
  /// The daemon that responded last.
  private var client: ControlClient?

  init(_ connection: Connection, _ query: JobQuery, isWide: Bool) {
    self.connection = connection
    self.query = query
    self.isWide = isWide
  }

  /// Runs until an error occurs.
  func run(from client: ControlClient) async throws {
    self.client = client
    // A batch that does not exist is an error; an empty list is not.
    if let batch = query.batch { _ = try await client.batch(batch) }
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
    let wanted = query.ids.map { Set($0) }
    try await feed.follow(from: client) { client in
      self.client = client
      self.isChanged = true
      return try await client.stats().lastEvent
    } handle: { item, _ in
      if wanted == nil || item.job.map({ wanted?.contains($0) ?? true }) ?? false { self.isChanged = true }
      return true
    }
  }

  private func draw() async throws {
    guard isChanged, let client else { return }
    isChanged = false
    do {
      try await draw(from: client)
    } catch ControlError.unreachable {
      // The feed connects again, and then all is drawn.
      isChanged = true
    } catch let problem as Problem where problem.code == .unavailable {
      isChanged = true
    }
  }

  private func draw(from client: ControlClient) async throws {
    let terminal = Terminal.output
    guard terminal.isInteractive else {
      var list = JobList(isWide ? .wide : .table, .standard)
      for piece in query.pieces { try await client.jobLines(piece) { try list.write($0) } }
      try list.finish()
      // The header is shown even if there are no jobs.
      if list.isEmpty {
        var table = JobTable(isWide: isWide, Paint(terminal))
        try Output.standard.lines(table.lines([]))
      }
      try Output.standard.line("")
      return try Output.standard.flush()
    }
    let size = terminal.size
    // Three rows are for the header, the number of further jobs, and the cursor.
    let rows = max(1, size.rows - 3)
    let (shown, total) = try await jobs(rows, client)
    var table = JobTable(isWide: isWide, Paint(terminal), maximum: size.columns - 1)
    var lines = table.lines(shown)
    if shown.count < total { lines.append("and \(total - shown.count) more") }  // checked: total is above the count
    // Move home, clear each row behind its line, then everything below. ECMA-48: CUP, EL, ED
    try Output.standard.write("\u{1b}[H" + lines.map { $0 + "\u{1b}[K\n" }.joined() + "\u{1b}[J")
    try Output.standard.flush()
  }

  /// The first jobs by id, and the number of all.
  private func jobs(_ rows: Int, _ client: ControlClient) async throws -> (shown: [Job], total: Int) {
    var shown: [Job] = []
    var total = 0
    for var piece in query.pieces {
      // The jobs among ids must be counted; there are not many.
      if query.ids == nil { piece.limit = rows }
      var splitter = LineSplitter()
      try await client.jobLines(piece) { chunk in
        for line in splitter.push(chunk) {
          total += 1  // checked: counts the lines of a response
          if shown.count < rows { shown.append(try ControlClient.job(from: line)) }
        }
      }
    }
    if query.ids == nil, total >= rows { total = max(total, try await TerminalSelection(query, client).total ?? total) }
    return (shown, total)
  }
}
