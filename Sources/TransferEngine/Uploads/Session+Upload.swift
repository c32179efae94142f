public import FoundationEssentials
import WireValues

extension Session {
  /// Uploads a file; see `FileUpload`.
  /// - Parameters:
  ///   - upload: the file, the target and the protocol.
  ///   - ledger: the ledger of an earlier request, of this process or another; ignored if it cannot be read.
  ///   - journal: makes the ledger durable while the upload runs.
  ///   - interceptor: asked before the session's; `nil` for none.
  public func upload(
    _ upload: FileUpload, resumingWith ledger: Data? = nil, journal: (any UploadJournal)? = nil,
    interceptor: (any RequestInterceptor)? = nil
  ) -> FileUploadRequest {
    let shown = UploadProgressTracker()
    let core = uploadCore(
      upload, id: nil, resumingWith: ledger, journal: journal, interceptor: interceptor, adopting: nil
    ) { shown.show($0) }
    return FileUploadRequest(core: core, tracker: shown)
  }

  /// The core of an upload's request.
  /// - Parameters:
  ///   - id: the id under which events were reported before; `nil` for a new one.
  ///   - adopted: a transfer that has been done for this upload.
  ///   - show: called with the progress.
  func uploadCore(
    _ upload: FileUpload, id: RequestID?, resumingWith ledger: Data?, journal: (any UploadJournal)?,
    interceptor: (any RequestInterceptor)?, adopting adopted: AdoptedUpload?,
    _ show: @escaping @Sendable (UploadProgress) -> Void
  ) -> RequestCore<FileUploadResponse> {
    RequestCore<FileUploadResponse>(session: self, id: id) { core in
      let tracker = UploadTracker { progress in
        show(progress)
        core.report(TransferProgress(completed: progress.sent, total: progress.total), .upload)
      }
      let pipeline = UploadPipeline(
        session: self, core: core, interceptor: interceptor, upload: upload, journal: journal, tracker: tracker)
      return await pipeline.run(from: ledger.flatMap { UploadLedger($0) }, adopting: adopted)
    }
  }

  /// Deletes an unfinished upload on the server: its partial bytes, its parts, its temporary name. Does not need the
  /// source. Succeeds if nothing is left, so it may be called again.
  /// - Throws: why it could not be deleted; transient like the failure of any request.
  public func abandon(
    _ upload: FileUpload, ledger: Data, interceptor: (any RequestInterceptor)? = nil
  ) async throws(TransferError) {
    guard let ledger = UploadLedger(ledger) else { return }
    let wire = UploadClient(RequestRecord(id: nextRequestID(), session: self))
    try await removeLeftovers(upload, ledger, wire, interceptor)
  }

  func removeLeftovers(
    _ upload: FileUpload, _ ledger: UploadLedger, _ wire: UploadClient, _ interceptor: (any RequestInterceptor)?
  ) async throws(TransferError) {
    let request = try await adapted(upload.request, interceptor, wire.record)
    try await strategy(of: upload, knownBy: ledger.progress).abandon(ledger.progress, request, wire)
  }

  /// The strategy of an existing upload.
  private func strategy(of upload: FileUpload, knownBy progress: UploadLedger.Progress) -> any UploadStrategy {
    switch progress {
    case .posting: PlainUpload(form: nil)
    case .temporary: upload.request.url.isHTTP ? WebDAVUpload() : RemoteFileUpload()
    case .s3: s3(upload)
    case .resumable: ResumableUpload()
    case .tus: tus(upload)
    }
  }

  private func s3(_ upload: FileUpload) -> S3Upload {
    if case .s3(let options) = upload.protocol { S3Upload(options: options) } else { S3Upload(options: S3Options()) }
  }

  private func tus(_ upload: FileUpload) -> TusUpload {
    if case .tus(let options) = upload.protocol {
      TusUpload(options: options, endpoint: upload.collection)
    } else {
      TusUpload(options: TusOptions(), endpoint: upload.collection)
    }
  }

  private func newTus(_ upload: FileUpload) throws(TransferError) -> TusUpload {
    guard !upload.onlyIfAbsent else {
      throw .upload(
        .unsupported("a tus server gives each upload a name of its own, and cannot say whether the file is there"))
    }
    return tus(upload)
  }

  /// The strategy of a new upload.
  func strategy(of upload: FileUpload, _ request: TransferRequest, _ wire: UploadClient) async throws(TransferError)
    -> any UploadStrategy
  {
    switch upload.protocol {
    case .automatic: return try await automaticStrategy(upload, request, wire)
    case .plain: return PlainUpload(form: nil)
    case .tus: return try newTus(upload)
    case .form(let options): return PlainUpload(form: options)
    case .resumable: return ResumableUpload()
    case .s3: return s3(upload)
    case .webDAV: return WebDAVUpload()
    case .remoteFile: return RemoteFileUpload()
    }
  }

  /// Chooses by the scheme, then by what the server supports. A server that supports nothing else gets a plain request.
  private func automaticStrategy(
    _ upload: FileUpload, _ request: TransferRequest, _ wire: UploadClient
  ) async throws(TransferError) -> any UploadStrategy {
    if request.url.scheme == "s3" { return s3(upload) }
    guard request.url.isHTTP else { return RemoteFileUpload() }
    var question = request
    if let collection = upload.collection { question.url = collection }
    let server = try await wire.server(at: question, remembering: upload.serverKey)
    if server.tus != nil { return try newTus(upload) }
    if server.isResumable { return ResumableUpload() }
    return PlainUpload(form: nil)
  }
}

extension FileUpload {
  /// The key of the cache for OPTIONS responses. If the URL ends with the file's own name, the key is its directory:
  /// 10,000 files in it need one request.
  var serverKey: String {
    if let collection { return "auto " + collection.ledgerTarget }
    let path = request.url.path
    guard path.containsSlash else { return "auto " + request.url.ledgerTarget }
    let (name, last) = (String(source.baseName), String(path.baseName))
    let isNamedLikeSource = last == name || last.percentDecoded == name
    return "auto " + request.url.origin + (isNamedLikeSource ? String(path.beforeBaseName) : path)
  }
}
