import FoundationEssentials
import TransferAPI

/// Follows the event stream of one daemon across its restarts and misses no event: `synchronize` first reads the
/// newest event's number and then the jobs, and the stream begins after that number.
struct EventFeed: Sendable {
  let connection: Connection
  /// Only events of these jobs; with `nil` or a long list the daemon sends all events.
  var jobs: [JobID]?
  var batch: String?
  var progress = false
  /// Seconds between two messages of progress; `nil` for the daemon's four a second.
  var every: Int?
  /// Sums and failures instead of each event.
  var sums = false
  /// Prints that the connection was lost.
  var say: @Sendable (String) -> Void = { Notice.say($0) }

  /// - Parameters:
  ///   - synchronize: called after each connect; returns the number to stream from, or `nil` to end.
  ///   - handle: returns whether to continue.
  /// - Throws: the daemon's `Problem`, and `CommandFailure` if the daemon does not return within 30 s.
  nonisolated(nonsending) func follow(
    from client: ControlClient, synchronize: (ControlClient) async throws -> Int64?,
    handle: (FeedItem, ControlClient) async throws -> Bool
  ) async throws {
    var client = client
    while true {
      do {
        guard let since = try await synchronize(client) else { return }
        guard try await stream(client, since: since, handle: handle) else { return }
      } catch ControlError.unreachable {
      } catch let problem as Problem where problem.code == .unavailable {
      }
      try Task.checkCancellation()
      say("lost the connection to transferd; connecting again")
      client = try await connection.reopen(client.socket)
    }
  }

  /// - Returns: `true` if the daemon ended the stream, `false` if `handle` did.
  nonisolated(nonsending) private func stream(
    _ client: ControlClient, since: Int64, handle: (FeedItem, ControlClient) async throws -> Bool
  ) async throws -> Bool {
    let chunks = try await client.open(
      "GET", path(since: since), headers: ["Accept": "text/event-stream"])
    var parser = ServerSentEventParser()
    for try await chunk in chunks {
      for event in parser.push(chunk) {
        guard let item = try Self.item(event) else { continue }
        guard try await handle(item, client) else { return false }
      }
    }
    try Task.checkCancellation()
    return true
  }

  func path(since: Int64) -> String {
    var items = [("since", String(since))]
    if let jobs, jobs.count <= JobQuery.idsPerRequest {
      items.append(("jobs", jobs.map(\.description).joined(separator: ",")))
    }
    // With very many jobs only final events are streamed.
    if let jobs, jobs.count > JobQuery.idsPerRequest { items.append(("final", "true")) }
    if let batch { items.append(("batch", batch)) }
    if sums { items.append(("sums", "true")) }
    if progress { items.append(("progress", "true")) }
    if progress, let every { items.append(("every", String(every))) }
    return ControlClient.path("/v1/events", items)
  }

  /// `nil` for an unknown kind of event.
  static func item(_ event: ServerSentEvent) throws -> FeedItem? {
    let data = Data(event.data.utf8)
    switch event.name {
    case "progress": return .progress(try ControlClient.decode(from: data))
    case "sums": return .sums(try ControlClient.decode(from: data))
    case "message": return nil
    default:
      guard Event.Kind(rawValue: event.name) != nil else { return nil }
      return .event(try ControlClient.decode(from: data))
    }
  }
}
