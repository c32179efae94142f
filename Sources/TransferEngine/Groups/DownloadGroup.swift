import Synchronization

/// Many downloads that share their work: directories, hops between threads, disk syncs and journal entries.
///
/// A plain small file (http or https, 200 or 203, a known length of at most 1 MiB) stays in the group: its bytes wait in
/// memory, and the files that have arrived are written, synced, recorded and renamed together. Everything else — a redirect,
/// an error, a body that is long, encoded or of unknown length, resume data, an interceptor, another protocol — leaves the
/// group and continues as `Session.download` does, without a second request. Both give the same responses.
///
/// ```swift
/// for await outcomes in session.downloads(list) {
///   for outcome in outcomes { print(outcome.tag, outcome.response.result) }
/// }
/// ```
///
/// The group is a sequence for one task. The downloads do not depend on it: they run even if no task iterates.
public final class DownloadGroup: AsyncSequence, Sendable {
  /// How one download ended.
  public struct Outcome: Sendable {
    /// The number that the caller gave it.
    public var tag: Int
    /// The same as a single download's.
    public var response: FileResponse
  }

  /// The journal did not allow the rename: another owner has the download now. The part file stays.
  public struct LostClaim: Error, Equatable, CustomStringConvertible {
    /// The error of a download whose rename the journal refused.
    public init() {}
    /// For messages.
    public var description: String { "another owner has the download now" }
  }

  let core: DownloadGroupCore

  init(core: DownloadGroupCore) { self.core = core }

  /// Adds downloads. They start when there is a free connection.
  public func add(_ downloads: [GroupDownload]) { core.add(downloads) }

  /// Sets how many of an origin's downloads run at once, and returns when that is in force. Those that run go on.
  /// - Parameters:
  ///   - maximum: `nil` for the group's own limit.
  ///   - origin: scheme, host and port, as in `RequestURL.origin`.
  public func limitConnections(_ maximum: Int?, origin: String) async {
    await core.limitConnections(maximum, origin: origin)
  }

  /// No downloads will be added: the sequence ends after the last outcome.
  public func finish() { core.finish() }

  /// Cancels one download. One that ends at this moment keeps its outcome; an unknown tag is ignored.
  /// - Parameter shouldProduceResumeData: whether the bytes that have arrived are kept, in the part file.
  public func cancel(_ tag: Int, producingResumeData shouldProduceResumeData: Bool = false) {
    core.cancel([tag], shouldProduceResumeData ? .keepingBytes : .discardingBytes)
  }

  /// Cancels all downloads that were added and have not ended.
  public func cancelAll(producingResumeData shouldProduceResumeData: Bool = false) {
    core.cancel(nil, shouldProduceResumeData ? .keepingBytes : .discardingBytes)
  }

  /// How many bytes of a download have arrived; `nil` for an unknown tag and after the end.
  public func progress(_ tag: Int) -> TransferProgress? { core.progress(tag) }

  /// Waits for outcomes.
  public struct AsyncIterator: AsyncIteratorProtocol {
    let core: DownloadGroupCore

    /// The outcomes since the last call, at least one. `nil` after `finish()` and the last outcome, and if the task is
    /// cancelled; the downloads continue then.
    public mutating func next() async -> [Outcome]? { await core.nextOutcomes() }

    /// The same; the isolation of the caller does not matter.
    public mutating func next(isolation actor: isolated (any Actor)?) async -> [Outcome]? { await core.nextOutcomes() }
  }

  public func makeAsyncIterator() -> AsyncIterator { AsyncIterator(core: core) }
}
