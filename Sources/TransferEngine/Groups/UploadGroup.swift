/// Many uploads that share their work: directories, hops between threads, and the checks of the sources.
///
/// A PUT of a small file (http or https, at most 1 MiB) that the server accepts stays in the group. Everything else — a
/// longer file, a redirect, an error, a source that changed, a ledger, an interceptor, another protocol — leaves the group
/// and continues as `Session.upload` does, without a second request. Both give the same responses.
///
/// With `UploadProtocol.automatic` the first uploads to a place leave the group and ask the server what it supports. Once
/// the server is known to support only PUT, later ones stay.
///
/// ```swift
/// for await outcomes in session.uploads(list) {
///   for outcome in outcomes { print(outcome.tag, outcome.response.result) }
/// }
/// ```
///
/// The group is a sequence for one task. The uploads do not depend on it: they run even if no task iterates.
public final class UploadGroup: AsyncSequence, Sendable {
  /// How one upload ended.
  public struct Outcome: Sendable {
    /// The number that the caller gave it.
    public var tag: Int
    /// The same as a single upload's.
    public var response: FileUploadResponse
  }

  let core: UploadGroupCore

  init(core: UploadGroupCore) { self.core = core }

  /// Adds uploads. They start when there is a free connection.
  public func add(_ uploads: [GroupUpload]) { core.add(uploads) }

  /// Sets how many of an origin's uploads run at once, and returns when that is in force. Those that run go on.
  /// - Parameters:
  ///   - maximum: `nil` for the group's own limit.
  ///   - origin: scheme, host and port, as in `RequestURL.origin`.
  public func limitConnections(_ maximum: Int?, origin: String) async {
    await core.limitConnections(maximum, origin: origin)
  }

  /// No uploads will be added: the sequence ends after the last outcome.
  public func finish() { core.finish() }

  /// Cancels one upload. One that the server has accepted at this moment keeps its outcome; an unknown tag is ignored.
  public func cancel(_ tag: Int) { core.cancel([tag]) }

  /// Cancels all uploads that were added and have not ended.
  public func cancelAll() { core.cancelAll() }

  /// The progress of an upload in bytes of its source; `nil` for an unknown tag and after the end.
  public func progress(_ tag: Int) -> TransferProgress? { core.progress(tag) }

  /// Waits for outcomes.
  public struct AsyncIterator: AsyncIteratorProtocol {
    let core: UploadGroupCore

    /// The outcomes since the last call, at least one. `nil` after `finish()` and the last outcome, and if the task is
    /// cancelled; the uploads continue then.
    public mutating func next() async -> [Outcome]? { await core.nextOutcomes() }

    /// The same; the isolation of the caller does not matter.
    public mutating func next(isolation actor: isolated (any Actor)?) async -> [Outcome]? { await core.nextOutcomes() }
  }

  public func makeAsyncIterator() -> AsyncIterator { AsyncIterator(core: core) }
}
