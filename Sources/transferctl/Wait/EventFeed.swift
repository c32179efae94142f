import FoundationEssentials
import TransferAPI

/// What the daemon's event stream tells.
enum FeedItem: Equatable, Sendable {
  case event(Event)
  case progress(Progress)
}

/// Follows the event stream of one daemon across its restarts, without a gap: `synchronize` first learns the
/// newest event's number and then reads what it needs, and the stream begins after that number.
struct EventFeed: Sendable {
  let connection: Connection
  /// Only events of these; `nil` or a long list means the daemon sends all.
  var jobs: [JobID]?
  var batch: String?
  var progress = false
  /// Tells people that the connection is lost.
  var say: @Sendable (String) -> Void = { Notice.say($0) }

  /// - Parameters:
  ///   - synchronize: called with each (new) connection; answers the number to stream from, `nil` to end.
  ///   - handle: answers whether to go on.
  /// - Throws: what the daemon refuses, and `CommandFailure` when it stays away for 30 s.
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
      say("lost transferd; connecting again")
      client = try await connection.reopen(client.socket)
    }
  }

  /// - Returns: whether the daemon ended the stream, not the reader.
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
    // Of very many jobs only their ends are of interest.
    if let jobs, jobs.count > JobQuery.idsPerRequest { items.append(("final", "true")) }
    if let batch { items.append(("batch", batch)) }
    if progress { items.append(("progress", "true")) }
    return ControlClient.path("/v1/events", items)
  }

  /// `nil` for events of a kind that is not known.
  static func item(_ event: ServerSentEvent) throws -> FeedItem? {
    let data = Data(event.data.utf8)
    switch event.name {
    case "progress": return .progress(try ControlClient.decode(from: data))
    case "message": return nil
    default:
      guard Event.Kind(rawValue: event.name) != nil else { return nil }
      return .event(try ControlClient.decode(from: data))
    }
  }
}
