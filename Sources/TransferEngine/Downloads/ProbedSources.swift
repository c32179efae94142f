import Synchronization

/// What further connections of one transfer know of each source: its adapted request, and its validators.
final class ProbedSources: Sendable {
  struct Source: Sendable {
    var request: TransferRequest
    var validators = Validators()
  }
  private let sources: Mutex<[Int: Source]>

  /// - Parameter request: of the first connection, before redirects.
  init(lead: Int, _ request: TransferRequest) { sources = Mutex([lead: Source(request: request)]) }

  /// `nil` if the source has not been asked yet.
  subscript(id: Int) -> Source? {
    get { sources.withLock { $0[id] } }
    set { sources.withLock { $0[id] = newValue } }
  }
}
