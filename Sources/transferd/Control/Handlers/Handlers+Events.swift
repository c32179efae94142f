import HTTPServer
import NIOCore
import NIOHTTP1
import Store
import TransferAPI

extension Handlers {
  /// The history that follows an event number: as a stream of server-sent events without end, or with `follow=false` as lines.
  static let events: RouteTable.Handler = { request, daemon in
    let (user, scope) = (request.caller.uid, try request.scope())
    let filter = EventFilter(
      in: scope, jobs: try request.ids("jobs").map(Set.init), batch: try await request.batch(in: scope, daemon.store),
      finalOnly: try request.flag("final") ?? false)
    let lastID = request.header("Last-Event-ID").flatMap { Int64($0) }
    // A client that reconnects repeats its first URL, so the number of the last event that it received has precedence.
    let since = try request.integer("since", in: Int64(0)...Int64.max).map { max($0, lastID ?? 0) } ?? lastID
    if try request.flag("follow") == false {
      let limit = try request.integer("limit", in: 1...10_000_000) ?? .max
      return Reply.lines { try await writeHistory(to: $0, for: user, since: since ?? 0, limit: limit, filter, daemon) }
    }
    let wantsSums = try request.flag("sums") ?? false
    let withProgress = try request.flag("progress") ?? false
    if wantsSums, withProgress || filter.jobs != nil || filter.finalOnly {
      throw Problem(.invalid, "sums cannot be combined with jobs, final and progress; they cover all jobs or one batch")
    }
    let every = try request.integer("every", in: 1...3600)
    guard withProgress || every == nil else { throw Problem(.invalid, "every needs progress=true") }
    let interval = withProgress ? every.map { Duration.seconds($0) } ?? EventStream.progressInterval : nil
    let start: Int64
    if let since { start = since } else { start = try await daemon.store.lastEvent(in: .everything) }
    return Response(
      status: .ok, headers: ["Content-Type": "text/event-stream", "Cache-Control": "no-store"],
      body: .stream { writer in
        if wantsSums {
          var stream = SumStream(daemon: daemon, user: user, scope: scope, batch: filter.batch, cursor: start)
          return try await stream.run(for: request.request, to: writer)
        }
        var stream = EventStream(daemon: daemon, user: user, filter: filter, cursor: start, progressInterval: interval)
        try await stream.run(for: request.request, to: writer)
      })
  }

  private static func writeHistory(
    to writer: ResponseWriter, for user: UInt32, since: Int64, limit: Int, _ filter: EventFilter,
    _ daemon: DaemonServices
  ) async throws {
    var filter = filter
    var cursor = since
    var left = limit
    while left > 0 {
      let (page, last) = try await history(after: cursor, for: user, &left, &filter, daemon)
      guard let last else { return }
      cursor = last
      try await writer.write(page)
    }
  }

  /// A page of lines, and the number of the last event that was examined; `nil` if there was none.
  private static func history(
    after cursor: Int64, for user: UInt32, _ left: inout Int, _ filter: inout EventFilter, _ daemon: DaemonServices
  ) async throws -> (ByteBuffer, Int64?) {
    await AsyncSemaphore.longResponses.enter(for: user)
    defer { AsyncSemaphore.longResponses.leave() }
    var page = ByteBuffer()
    let events = try await daemon.store.events(
      since: cursor, jobs: filter.jobs, limit: min(500, left), in: filter.scope)
    for event in try await filter.matching(events, daemon.store).prefix(left) {
      page.writeBytes(try Reply.line(event))
      left -= 1
    }
    return (page, events.last?.seq)
  }
}
