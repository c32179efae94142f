public import FoundationEssentials

/// A download to a file. A handle: cheap to copy, safe from any thread.
///
/// The bytes go into a part file beside the destination; the destination's name appears by one rename, when length,
/// digest and validations are satisfied.
public final class DownloadRequest: Sendable {
  let core: RequestCore<DownloadResponse>

  init(core: RequestCore<DownloadResponse>) { self.core = core }

  public var id: RequestID { core.id }
  public var state: RequestState { core.requestState }
  /// Bytes in the part file; equals what the file holds, not the sum of what arrived.
  public var progress: TransferProgress { core.progress }

  /// What is needed to go on later; there after a failure or a cancel that left something to go on from.
  public var resumeData: Data? { core.output?.resumeData?.encoded() }

  /// Starts, or goes on after `suspend()`.
  @discardableResult public func resume() -> Self {
    core.resume()
    return self
  }

  /// Stops the transfer and keeps its bytes; `resume()` goes on from them.
  @discardableResult public func suspend() -> Self {
    core.suspend()
    return self
  }

  /// A request, not an outcome: a download that finishes at this moment stays finished. `response()` then fails with
  /// `.cancelled` and carries the resume data; the part file stays.
  @discardableResult public func cancel() -> Self {
    core.cancel()
    return self
  }

  /// Cancels, waits until the bytes are on the disk, and returns what is needed to go on; `nil` where there is nothing
  /// to go on from.
  public func cancelProducingResumeData() async -> Data? {
    core.cancel()
    return await core.value().resumeData?.encoded()
  }

  /// Called on the transfer loop's thread for every piece that arrives; must return quickly.
  @discardableResult public func downloadProgress(
    _ handler: @escaping @Sendable (TransferProgress) -> Void
  ) -> Self {
    core.observeProgress(handler)
    return self
  }

  /// The outcome, after validation and the rename. May be awaited by many.
  public func response() async -> DownloadResponse { await core.value() }
}

/// How a download ended.
public struct DownloadResponse: Sendable {
  /// The final response's head, where there was one.
  public var head: ResponseHead?
  /// The file's absolute path.
  public var result: Result<String, TransferError>
  /// There unless the download succeeded or has nothing to go on from. The bytes it counts are on the disk.
  public var resumeData: ResumeData?
  /// One for each transfer, redirects and repeated questions included, the last one last.
  public var metrics: [TransferMetrics]
  /// Where the last attempt went on from.
  public var resumedFrom: Int64
  /// Body bytes of the file that arrived over the network, those fetched again included.
  public var bytesReceived: Int64
  /// Bytes in the part file or, at the end, the file.
  public var bytesOnDisk: Int64
  public var totalBytes: Int64?
  /// The origin that answered, after redirects.
  public var respondingOrigin: String?
  /// How it is known that the file is whole.
  public var verification: Verification?

  public enum Verification: String, Sendable, Codable {
    case digest
    case length
    /// Neither a length nor a digest was to be had: only the connection's end says that it is all.
    case none
  }

  /// A download that could not even be asked for.
  public init(failing error: TransferError) {
    result = .failure(error)
    metrics = []
    resumedFrom = 0
    bytesReceived = 0
    bytesOnDisk = 0
  }

  init(
    head: ResponseHead?, result: Result<String, TransferError>, resumeData: ResumeData?, metrics: [TransferMetrics],
    resumedFrom: Int64, bytesReceived: Int64, bytesOnDisk: Int64, totalBytes: Int64?
  ) {
    self.head = head
    self.result = result
    self.resumeData = resumeData
    self.metrics = metrics
    self.resumedFrom = resumedFrom
    self.bytesReceived = bytesReceived
    self.bytesOnDisk = bytesOnDisk
    self.totalBytes = totalBytes
  }

  public var error: TransferError? {
    if case .failure(let error) = result { error } else { nil }
  }
}
