public import FoundationEssentials
import Synchronization

/// An upload of a file. A handle: cheap to copy, safe from any thread.
///
/// `suspend()` ends what is being sent; `resume()` goes on from what the server has, where the protocol can, and else sends
/// all again. `cancel()` leaves what the server has there until `Session.abandon`; the response carries the ledger.
public final class FileUploadRequest: Request {
  let core: RequestCore<FileUploadResponse>
  private let board: UploadProgressBoard

  init(core: RequestCore<FileUploadResponse>, board: UploadProgressBoard) {
    self.core = core
    self.board = board
  }

  public var control: RequestControl { RequestControl(core: core) }

  /// Bytes of the source, not of what went over the wire.
  public var progress: UploadProgress { board.progress }

  /// What is needed to go on later; there after a failure or a cancel that left something to go on from.
  public var ledger: Data? { core.output?.ledger?.encoded() }

  /// Called on the transfer loop's thread for every piece that is taken for sending; must return quickly.
  @discardableResult public func uploadProgress(
    _ handler: @escaping @Sendable (UploadProgress) -> Void
  ) -> Self {
    board.observe(handler)
    return self
  }

  /// The outcome. May be awaited by many.
  public func response() async -> FileUploadResponse { await core.value() }
}

/// How far an upload is, in bytes of the source.
public struct UploadProgress: Sendable, Equatable {
  /// Handed to the network or known to be at the server. May go back when a connection breaks.
  public var sent: Int64
  /// What the server said it has. Protocols that say nothing before the end leave this at 0 until then.
  public var acknowledged: Int64
  /// `nil` before the source was opened.
  public var total: Int64?

  /// Bytes sent, bytes that the server has said it has, of how many.
  public init(sent: Int64 = 0, acknowledged: Int64 = 0, total: Int64? = nil) {
    self.sent = sent
    self.acknowledged = acknowledged
    self.total = total
  }
}

/// The last progress and who wants to hear of it.
final class UploadProgressBoard: Sendable {
  private let state = Mutex((progress: UploadProgress(), observers: [@Sendable (UploadProgress) -> Void]()))

  var progress: UploadProgress { state.withLock { $0.progress } }

  func observe(_ observer: @escaping @Sendable (UploadProgress) -> Void) {
    state.withLock { $0.observers.append(observer) }
  }

  func show(_ progress: UploadProgress) {
    let observers = state.withLock { state in
      state.progress = progress
      return state.observers
    }
    for observer in observers { observer(progress) }
  }
}

/// How an upload ended.
public struct FileUploadResponse: Sendable {
  /// The last answer's head, where there was one.
  public var head: ResponseHead?
  /// Where the server put it, or why it is not there.
  public var result: Result<Void, TransferError>
  /// What is needed to go on, or to have the server forget it (`Session.abandon`). `nil` after success, and where nothing
  /// is left on the server.
  public var ledger: UploadLedger?
  /// One for each transfer, the last one last.
  public var metrics: [TransferMetrics] = []
  /// Body bytes that went out over the network, those sent again and those around the file included.
  public var bytesSent: Int64 = 0
  /// Bytes of the source that the server said it has; all of them after success.
  public var bytesAcknowledged: Int64 = 0
  /// The file's length in bytes.
  public var totalBytes: Int64?
  /// Bytes of the source that the server already had when the last attempt began.
  public var resumedFrom: Int64 = 0
  /// The version of the source that was sent, or was to be sent.
  public var source: SourceIdentity?
  /// The origin that answered last.
  public var respondingOrigin: String?

  /// An upload that could not even be begun.
  public init(failing error: TransferError) { result = .failure(error) }

  init(_ result: Result<Void, TransferError>) { self.result = result }

  /// Why the upload failed.
  public var error: TransferError? {
    if case .failure(let error) = result { error } else { nil }
  }
}

extension FileUploadResponse: RequestOutput {
  typealias Validation = Never
}
