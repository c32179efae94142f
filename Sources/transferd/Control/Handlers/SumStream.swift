import HTTPServer
import NIOCore
import Store
import Threads
import TransferAPI
import WireValues

/// The server-sent events of a watcher that wants sums and failures instead of each event. Its cost does not grow with the
/// number of the jobs: at most four times a second it reads the sums that the store keeps.
struct SumStream {
  let daemon: DaemonServices
  /// Who watches.
  let user: UInt32
  let scope: Scope
  let batch: BatchID?
  var cursor: Int64

  /// Failures in one piece.
  private static let maximumFailures = 500

  /// Runs until the watcher is gone: then the writer throws.
  mutating func run(for request: Request, to writer: ResponseWriter) async throws {
    let wakes = WatcherWakes(daemon.hub, request, every: EventStream.keepAliveInterval)
    defer { wakes.stop() }
    try await writer.write(ByteBuffer(string: ": transferd\n\n"))
    var sent: WatchSums?
    for await _ in wakes.stream {
      let reasons = wakes.take()
      var buffer = ByteBuffer()
      while try await append(to: &buffer, &sent) {
        try await writer.write(buffer)
        buffer.clear()
      }
      // A half-closed client may still read; writing to a closed connection fails.
      if buffer.readableBytes == 0, reasons != .news { buffer.writeString(": still here\n\n") }
      try await writer.write(buffer)
      // Changes during this pause are sent together.
      if reasons.contains(.news) { try? await Task.pause(for: daemon.hub.gatheringTime(EventStream.progressInterval)) }
    }
  }

  /// - Returns: whether there are more failures.
  private mutating func append(to buffer: inout ByteBuffer, _ sent: inout WatchSums?) async throws -> Bool {
    await AsyncSemaphore.longResponses.enter(for: user)
    defer { AsyncSemaphore.longResponses.leave() }
    let watched = try await daemon.store.watched(
      batch: batch, since: cursor, limit: Self.maximumFailures, in: batch.map { .owner($0.owner) } ?? scope)
    for event in watched.failures {
      try buffer.writeEvent(event.kind.rawValue, id: event.seq, event)
    }
    cursor = watched.lastEvent
    guard !watched.isPartial else { return true }
    var sums = watched.sums
    if batch == nil {
      sums.bytesPerSecond = daemon.scheduler.tracker.all(in: scope).reduce(0) { $0.saturatingSum($1.bytesPerSecond) }
    }
    guard sums != sent else { return false }
    sent = sums
    // With this number, a client that reconnects continues after the failures that it has received.
    try buffer.writeEvent("sums", id: cursor, sums)
    return false
  }
}
