public import FoundationEssentials

/// An upload of a file. The handle is cheap to copy and safe to use from any thread.
///
/// `suspend()` ends the running transfer. `resume()` continues from the bytes that the server has, if the protocol can
/// resume, and otherwise sends everything again. After `cancel()` an unfinished upload stays on the server until
/// `Session.abandon` deletes it; the response has the ledger for that.
public final class FileUploadRequest: Request {
  let core: RequestCore<FileUploadResponse>
  private let tracker: UploadProgressTracker

  init(core: RequestCore<FileUploadResponse>, tracker: UploadProgressTracker) {
    self.core = core
    self.tracker = tracker
    core.attach(self)
  }

  public var control: RequestControl { RequestControl(core: core) }

  /// In bytes of the source, not of the bodies that were sent.
  public var progress: UploadProgress { tracker.progress }

  /// What a later upload needs to resume this one. Present after a failure or a cancellation that left something on the
  /// server.
  public var ledger: Data? { core.output?.ledger?.encoded() }

  /// Calls the handler for every piece that is handed to the network, on the transfer loop's thread; it must return
  /// quickly.
  @discardableResult public func uploadProgress(
    _ handler: @escaping @Sendable (UploadProgress) -> Void
  ) -> Self {
    tracker.observe(handler)
    return self
  }

  /// The outcome. Several tasks may await it.
  public func response() async -> FileUploadResponse { await core.value() }
}
