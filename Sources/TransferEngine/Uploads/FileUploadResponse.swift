import WireValues

/// The outcome of an upload.
public struct FileUploadResponse: Sendable {
  /// The head of the last response; `nil` if there was none.
  public var head: ResponseHead?
  /// Success, or why the upload failed.
  public var result: Result<Void, TransferError>
  /// What is needed to resume the upload, or to delete it on the server (`Session.abandon`). `nil` after a success, and
  /// if nothing is left on the server.
  public var ledger: UploadLedger?
  /// One for each transfer, in order.
  public var metrics: [TransferMetrics] = []
  /// Body bytes that were sent over the network, including those that were sent again and those around the file.
  public var bytesSent: Int64 = 0
  /// Bytes of the source that the server has acknowledged; all of them after a success.
  public var bytesAcknowledged: Int64 = 0
  /// The file's length in bytes.
  public var totalBytes: Int64?
  /// Bytes of the source that the server already had when the last attempt began.
  public var resumedFrom: Int64 = 0
  /// The version of the source.
  public var source: SourceIdentity?
  /// The origin of the last response.
  public var respondingOrigin: String?

  /// An upload that failed before a request was sent.
  public init(failing error: TransferError) { result = .failure(error) }

  init(_ result: Result<Void, TransferError>) { self.result = result }

  /// Why the upload failed; `nil` after a success.
  public var error: TransferError? {
    if case .failure(let error) = result { error } else { nil }
  }
}

extension FileUploadResponse: RequestOutput {
  typealias Validation = Never
}
