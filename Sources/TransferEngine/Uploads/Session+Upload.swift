public import FoundationEssentials
import HTTPTypes

extension Session {
  /// An upload of a file; see `FileUpload`.
  /// - Parameters:
  ///   - ledger: what an earlier request, here or in another process, left; ignored when unreadable.
  ///   - journal: keeps the ledger durable while it runs.
  public func upload(
    _ upload: FileUpload, resumingWith ledger: Data? = nil, journal: (any UploadJournal)? = nil,
    interceptor: (any RequestInterceptor)? = nil
  ) -> FileUploadRequest {
    let shown = UploadProgressBoard()
    let core = RequestCore<FileUploadResponse>(session: self) { core in
      await UploadPipeline(
        session: self, core: core, upload: upload, journal: journal, board: UploadBoard { shown.show($0) }
      ).run(from: ledger.flatMap { UploadLedger($0) }, interceptor: interceptor)
    }
    return FileUploadRequest(core: core, board: shown)
  }

  /// Has the server forget an unfinished upload: its partial bytes, its parts, its temporary name. The source is not
  /// needed. What is not there any more counts as forgotten, so it may be asked for again.
  /// - Throws: what kept it from being removed; transient as any request's failure.
  public func abandon(
    _ upload: FileUpload, ledger: Data, interceptor: (any RequestInterceptor)? = nil
  ) async throws(TransferError) {
    guard let ledger = UploadLedger(ledger) else { return }
    let wire = UploadWire(session: self, id: nextRequestID())
    try await removeLeftovers(upload, ledger, wire, interceptor)
  }

  func removeLeftovers(
    _ upload: FileUpload, _ ledger: UploadLedger, _ wire: UploadWire, _ interceptor: (any RequestInterceptor)?
  ) async throws(TransferError) {
    let request = try await adapted(upload.request, interceptor)
    let way: any UploadWay = PlainUpload(form: nil)
    try await way.abandon(ledger.progress, request, wire)
  }

  /// The way that an upload takes; where it goes on, the one it has taken.
  func way(
    of upload: FileUpload, _ request: TransferRequest, _ wire: UploadWire, continuing ledger: UploadLedger?
  ) async throws(TransferError) -> any UploadWay {
    switch upload.protocol {
    case .automatic, .plain: return PlainUpload(form: nil)
    case .form, .tus, .resumable, .s3, .webDAV, .remoteFile:
      throw .upload(.unsupported("this protocol is not there"))
    }
  }
}
