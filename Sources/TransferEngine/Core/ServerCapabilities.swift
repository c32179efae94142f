import Synchronization

/// A short-lived cache of what servers support, so that many files to one server need one OPTIONS request. Entries may
/// be outdated: their users must handle a server that has changed.
final class ServerCapabilities: Sendable {
  /// The result of an OPTIONS request.
  struct Server: Sendable, Equatable {
    /// `nil`: not a tus endpoint.
    var tus: TusServer?
    /// The server announced limits for IETF resumable uploads.
    var isResumable = false
  }

  private struct Entry {
    var server: Server
    var since: ContinuousClock.Instant
  }

  private static let lifetime = Duration.seconds(600)
  private static let capacity = 256
  private let entries = Mutex<[String: Entry]>([:])

  func server(at key: String) -> Server? {
    entries.withLock { entries in
      guard let entry = entries[key], entry.since.duration(to: .now) < Self.lifetime else { return nil }
      return entry.server
    }
  }

  func remember(_ server: Server, at key: String) {
    entries.withLock { entries in
      if entries.count >= Self.capacity, entries[key] == nil {
        if let oldest = entries.min(by: { $0.value.since < $1.value.since }) { entries[oldest.key] = nil }
      }
      entries[key] = Entry(server: server, since: .now)
    }
  }

  /// Remembers that the server refused a request of this size: later requests to the same place are smaller.
  func limit(chunkTo size: Int64, at key: String) {
    entries.withLock { $0[key]?.server.tus?.chunkLimit = size }
  }
}
