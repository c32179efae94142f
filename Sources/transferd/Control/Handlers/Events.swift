import FoundationEssentials
import HTTPTypes
import Hummingbird
import NIOCore
import NIOFoundationCompat
import Store
import Threads
import TransferAPI

extension Handlers {
  /// The history from a number on: as server-sent events that go on, or (`follow=false`) as lines that end.
  static let events: RouteTable.Handler = { request, daemon in
    let scope = try request.scope()
    let filter = EventFilter(
      in: scope, jobs: try request.ids("jobs").map(Set.init), batch: try await request.batch(in: scope, daemon.store),
      finalOnly: try request.flag("final") ?? false)
    let lastID = HTTPField.Name("Last-Event-ID").flatMap { request.request.headers[$0] }.flatMap { Int64($0) }
    // Who connects again does so with the URL of the first time: what was seen since counts.
    let since = try request.integer("since", in: Int64(0)...Int64.max).map { max($0, lastID ?? 0) } ?? lastID
    if try request.flag("follow") == false {
      let limit = try request.integer("limit", in: 1...10_000_000) ?? .max
      return Response(
        status: .ok, headers: [.contentType: "application/x-ndjson"],
        body: .init { writer in
          try await writeHistory(to: &writer, since: since ?? 0, limit: limit, filter, daemon)
          try await writer.finish(nil)
        })
    }
    let withProgress = try request.flag("progress") ?? false
    let start: Int64
    if let since { start = since } else { start = try await daemon.store.lastEvent(in: .everything) }
    return Response(
      status: .ok, headers: [.contentType: "text/event-stream", .cacheControl: "no-store"],
      body: .init { writer in
        var stream = EventStream(daemon: daemon, filter: filter, cursor: start, withProgress: withProgress)
        try await stream.run(to: request.channel) { try await writer.write($0) }
      })
  }

  private static func writeHistory(
    to writer: inout any ResponseBodyWriter, since: Int64, limit: Int, _ filter: EventFilter, _ daemon: DaemonFace
  ) async throws {
    var filter = filter
    var cursor = since
    var left = limit
    while left > 0 {
      let (page, last) = try await history(after: cursor, &left, &filter, daemon)
      guard let last else { return }
      cursor = last
      try await writer.write(page)
    }
  }

  /// A page of lines, and the number of the last event looked at; `nil` where there is none.
  private static func history(
    after cursor: Int64, _ left: inout Int, _ filter: inout EventFilter, _ daemon: DaemonFace
  ) async throws -> (ByteBuffer, Int64?) {
    await Turnstile.longAnswers.enter()
    defer { Turnstile.longAnswers.leave() }
    var page = ByteBuffer()
    let events = try await daemon.store.events(
      since: cursor, jobs: filter.jobs, limit: min(500, left), in: filter.scope)
    for event in try await filter.matching(events, daemon.store).prefix(left) {
      page.writeData(try Reply.line(event))
      left -= 1
    }
    return (page, events.last?.seq)
  }
}

/// Which events a watcher wants.
struct EventFilter: Sendable {
  /// Whose jobs the watcher may see.
  let scope: Scope
  var jobs: Set<JobID>?
  var batch: BatchID?
  /// Only what ends a job: final states and removals.
  var finalOnly = false
  /// Whether a job seen before belongs to the batch.
  private var known: [JobID: Bool] = [:]

  init(in scope: Scope, jobs: Set<JobID>? = nil, batch: BatchID? = nil, finalOnly: Bool = false) {
    // A batch has jobs of its owner alone.
    self.scope = batch.map { .owner($0.owner) } ?? scope
    self.jobs = jobs
    self.batch = batch
    self.finalOnly = finalOnly
  }

  mutating func matching(_ events: [Event], _ store: Store) async throws -> [Event] {
    let wanted = finalOnly ? events.filter { $0.to?.isFinal ?? true } : events
    guard let batch else { return wanted }
    try await learn(Set(wanted.map(\.job)), batch, store)
    // A job that was removed before we looked cannot be told: better one event too many than one too few.
    return wanted.filter { event in (known[event.job] ?? false) || event.kind == .removed }
  }

  /// Of what runs now.
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
    for record in try await store.records(Array(unknown), in: scope) {
      known[record.job.id] = record.batch == batch
    }
  }
}

/// One watcher's server-sent events. What happened is read from the store, so that a slow watcher costs nothing; progress is
/// what is true when it is sent, at most four times a second.
struct EventStream {
  let daemon: DaemonFace
  var filter: EventFilter
  var cursor: Int64
  let withProgress: Bool

  static let progressInterval = Duration.milliseconds(250)
  /// What happens within this time after news is told together.
  static let gatheringTime = Duration.milliseconds(10)
  /// A comment now and then finds out that nobody listens any more.
  static let keepAliveInterval = Duration.seconds(15)

  private enum Wake: Sendable {
    case news, tick, farewell
  }

  /// Runs until the watcher is gone.
  mutating func run(to channel: any Channel, _ write: (ByteBuffer) async throws -> Void) async throws {
    let (wakes, continuation) = AsyncStream<Wake>.makeStream(bufferingPolicy: .bufferingNewest(2))
    let news = daemon.hub.watch()
    let withProgress = withProgress
    let feeder = Task {
      await withTaskGroup(of: Void.self) { group in
        group.addTask { for await _ in news { continuation.yield(.news) } }
        group.addTask {
          while !Task.isCancelled {
            try? await Task.pause(for: withProgress ? Self.progressInterval : Self.keepAliveInterval)
            continuation.yield(.tick)
          }
        }
      }
    }
    defer { feeder.cancel() }
    FarewellHandler.watch(channel) { continuation.yield(.farewell) }
    try await write(ByteBuffer(string: ": transferd\n\n"))
    var sent: [JobID: Progress] = [:]
    var lastWrite = ContinuousClock.now
    var lastProgress = lastWrite - Self.progressInterval
    for await wake in wakes {
      var buffer = ByteBuffer()
      while try await appendNews(to: &buffer) {
        try await write(buffer)
        buffer.clear()
      }
      let hasNews = buffer.readableBytes > 0
      if withProgress, lastProgress.duration(to: .now) >= Self.progressInterval * 0.9 {
        lastProgress = .now
        try await appendProgress(to: &buffer, sent: &sent)
      }
      // Who has only sent all that it had to send goes on listening; to who is gone it cannot be written.
      let isDue = wake == .farewell || (wake == .tick && lastWrite.duration(to: .now) >= Self.keepAliveInterval)
      if isDue, buffer.readableBytes == 0 { buffer.writeString(": still here\n\n") }
      if buffer.readableBytes > 0 {
        try await write(buffer)
        lastWrite = .now
      }
      // A thousand changes a second are not told in a thousand pieces.
      if hasNews { try? await Task.pause(for: Self.gatheringTime) }
    }
  }

  /// - Returns: whether more is there than one piece should hold.
  private mutating func appendNews(to buffer: inout ByteBuffer) async throws -> Bool {
    await Turnstile.longAnswers.enter()
    defer { Turnstile.longAnswers.leave() }
    while true {
      let events = try await daemon.store.events(
        since: cursor, jobs: filter.jobs, limit: 500, in: filter.scope)
      guard let last = events.last else { return false }
      cursor = last.seq
      for event in try await filter.matching(events, daemon.store) {
        buffer.writeString("id: \(event.seq)\nevent: \(event.kind.rawValue)\ndata: ")
        buffer.writeData(try Reply.line(event))
        buffer.writeString("\n")
      }
      guard events.count == 500 else { return false }
      guard buffer.readableBytes < Reply.pieceBytes else { return true }
    }
  }

  private mutating func appendProgress(to buffer: inout ByteBuffer, sent: inout [JobID: Progress]) async throws {
    let all = try await filter.matching(daemon.scheduler.board.all(in: filter.scope), daemon.store)
    for progress in all {
      guard sent[progress.job] != progress else { continue }
      sent[progress.job] = progress
      buffer.writeString("event: progress\ndata: ")
      buffer.writeData(try Reply.line(progress))
      buffer.writeString("\n")
    }
    if sent.count > all.count * 2 + 64 { sent = sent.filter { id, _ in all.contains { $0.job == id } } }
  }
}
