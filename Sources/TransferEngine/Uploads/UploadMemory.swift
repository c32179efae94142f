import Synchronization

/// What servers said of themselves, for a while: a question less for each of many files. Never a truth: whoever acts on it
/// copes with a server that has changed its mind.
final class UploadMemory: Sendable {
  /// What an OPTIONS request brought to light.
  struct Server: Sendable, Equatable {
    /// `nil`: no tus endpoint.
    var tus: TusServer?
    /// It announced limits for IETF resumable uploads.
    var isResumable = false
  }

  private struct Entry {
    var server: Server
    var since: ContinuousClock.Instant
  }

  private static let lifetime = Duration.seconds(600)
  private static let capacity = 256
  private let entries = Mutex<[String: Entry]>([:])

  func server(at key: String, now: ContinuousClock.Instant = .now) -> Server? {
    entries.withLock { entries in
      guard let entry = entries[key], entry.since.duration(to: now) < Self.lifetime else { return nil }
      return entry.server
    }
  }

  func remember(_ server: Server, at key: String, now: ContinuousClock.Instant = .now) {
    entries.withLock { entries in
      if entries.count >= Self.capacity, entries[key] == nil {
        if let oldest = entries.min(by: { $0.value.since < $1.value.since }) { entries[oldest.key] = nil }
      }
      entries[key] = Entry(server: server, since: now)
    }
  }

  /// The server did not want a request of so many bytes: the next ones to the same place are smaller.
  func limit(chunkTo size: Int64, at key: String) {
    entries.withLock { $0[key]?.server.tus?.chunkLimit = size }
  }
}

extension UploadWire {
  /// Asks a place what it is. A server that does not say is asked again after a while; a failure says nothing and is none
  /// of the upload's: the upload itself will meet it.
  func server(at request: TransferRequest, remembering key: String) async throws(TransferError) -> UploadMemory.Server {
    if let known = session.uploadMemory.server(at: key) { return known }
    var question = request
    question.method = .options
    let answer: UploadAnswer
    do throws(TransferError) {
      answer = try await send(question)
    } catch .redirect {
      return UploadMemory.Server()
    }
    guard let head = answer.head, answer.failure == nil, head.status < 500, head.status != 429 else {
      return UploadMemory.Server()
    }
    let server = UploadMemory.Server(
      tus: TusServer(head), isResumable: head.status < 300 && head.field("Upload-Limit") != nil)
    session.uploadMemory.remember(server, at: key)
    return server
  }
}
