import HTTPServer
import NIOCore
import Store
import Threads
import TransferAPI

/// The server-sent events of one watcher. Events are read from the hub or from the store, so a slow watcher holds no memory.
/// Progress is the state at the time of sending, at most four times a second or as often as the watcher requests.
struct EventStream {
  let daemon: DaemonServices
  /// Who watches.
  let user: UInt32
  var filter: EventFilter
  var cursor: Int64
  /// The time between two pieces of progress; `nil` without progress.
  let progressInterval: Duration?

  static let progressInterval = Duration.milliseconds(250)
  /// Events that happen within this time are sent together.
  static let gatheringTime = Duration.milliseconds(10)
  /// A comment is sent after this time without events, to find out whether the watcher is gone.
  static let keepAliveInterval = Duration.seconds(15)

  /// Runs until the watcher is gone: then the writer throws.
  mutating func run(for request: Request, to writer: ResponseWriter) async throws {
    let wakes = WatcherWakes(
      daemon.hub, request, every: min(progressInterval ?? .seconds(3600), Self.keepAliveInterval))
    defer { wakes.stop() }
    try await writer.write(ByteBuffer(string: ": transferd\n\n"))
    var sent: [JobID: Progress] = [:]
    var lastWrite = ContinuousClock.now
    var lastProgress: ContinuousClock.Instant?
    for await _ in wakes.stream {
      let reasons = wakes.take()
      var buffer = ByteBuffer()
      while try await appendNews(to: &buffer) {
        try await writer.write(buffer)
        buffer.clear()
      }
      let hasNews = buffer.readableBytes > 0
      if let progressInterval, lastProgress.map({ $0.duration(to: .now) >= progressInterval * 0.9 }) ?? true {
        lastProgress = .now
        try await appendProgress(to: &buffer, sent: &sent)
      }
      // A half-closed client may still read; writing to a closed connection fails.
      let isDue =
        reasons.contains(.disconnect)
        || (reasons.contains(.tick) && lastWrite.duration(to: .now) >= Self.keepAliveInterval)
      if isDue, buffer.readableBytes == 0 { buffer.writeString(": still here\n\n") }
      if buffer.readableBytes > 0 {
        try await writer.write(buffer)
        lastWrite = .now
      }
      // Many changes within a short time become one piece.
      if hasNews { try? await Task.pause(for: daemon.hub.gatheringTime(Self.gatheringTime)) }
    }
  }

  /// - Returns: whether there are more events than one piece should hold.
  private mutating func appendNews(to buffer: inout ByteBuffer) async throws -> Bool {
    await AsyncSemaphore.longResponses.enter(for: user)
    defer { AsyncSemaphore.longResponses.leave() }
    var text = JSONText()
    while true {
      let events = try await events()
      guard let last = events.last else { return false }
      cursor = last.seq
      for event in try await filter.matching(events, daemon.store) {
        buffer.writeBytes(try daemon.hub.recent.text(of: event) { try Self.text(of: $0, in: &text) })
      }
      guard events.count == 500 else { return false }
      guard buffer.readableBytes < Reply.pieceBytes else { return true }
    }
  }

  /// The next events that the watcher may see: from those that are kept for all watchers, or from the store.
  private func events() async throws -> [Event] {
    if filter.scope == .everything, let recent = daemon.hub.recent.events(after: cursor, limit: 500) { return recent }
    return try await daemon.store.events(since: cursor, jobs: filter.jobs, limit: 500, in: filter.scope)
  }

  /// - Parameter text: its memory is used again for each event.
  private static func text(of event: Event, in text: inout JSONText) throws -> [UInt8] {
    text.removeAll()
    text.literal("id: ")
    text.number(event.seq)
    text.literal("\nevent: ")
    text.raw(event.kind.rawValue.utf8)
    text.literal("\ndata: ")
    try EventLine().write(event, to: &text)
    text.literal("\n")
    return text.bytes
  }

  private mutating func appendProgress(to buffer: inout ByteBuffer, sent: inout [JobID: Progress]) async throws {
    let all = try await filter.matching(daemon.scheduler.tracker.all(in: filter.scope), daemon.store)
    for progress in all {
      guard sent[progress.job] != progress else { continue }
      sent[progress.job] = progress
      try buffer.writeEvent("progress", progress)
    }
    if sent.count > all.count * 2 + 64 { sent = sent.filter { id, _ in all.contains { $0.job == id } } }
  }
}

extension ByteBuffer {
  /// Appends a server-sent event whose data is a value as one line of JSON.
  /// - Parameter id: what a client that connects again sends as `Last-Event-ID`; `nil`: the event leaves it as it is.
  mutating func writeEvent(_ name: String, id: Int64? = nil, _ value: some Encodable) throws {
    if let id { writeString("id: \(id)\n") }
    writeString("event: \(name)\ndata: ")
    writeBytes(try Reply.line(value))
    writeString("\n")
  }
}
