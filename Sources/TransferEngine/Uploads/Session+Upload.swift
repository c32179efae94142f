public import FoundationEssentials
import HTTPTypes

extension Session {
  /// An upload of a file; see `FileUpload`.
  /// - Parameters:
  ///   - ledger: what an earlier request, here or in another process, left; ignored when unreadable.
  ///   - journal: keeps the ledger durable while it runs.
  ///   - interceptor: asked before the session's own; `nil` for none.
  ///   - upload: the file, where it goes and how.
  public func upload(
    _ upload: FileUpload, resumingWith ledger: Data? = nil, journal: (any UploadJournal)? = nil,
    interceptor: (any RequestInterceptor)? = nil
  ) -> FileUploadRequest {
    let shown = UploadProgressBoard()
    let core = RequestCore<FileUploadResponse>(session: self) { core in
      await UploadPipeline(
        session: self, core: core, upload: upload, journal: journal,
        board: UploadBoard { progress in
          shown.show(progress)
          core.report(TransferProgress(completed: progress.sent, total: progress.total), .upload)
        }
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
    try await way(of: upload, knownBy: ledger.progress).abandon(ledger.progress, request, wire)
  }

  /// The way that an upload has taken, whatever it would take now.
  private func way(of upload: FileUpload, knownBy progress: UploadLedger.Progress) -> any UploadWay {
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

  /// The way that an upload takes.
  func way(of upload: FileUpload, _ request: TransferRequest, _ wire: UploadWire) async throws(TransferError)
    -> any UploadWay
  {
    switch upload.protocol {
    case .automatic: return try await automaticWay(upload, request, wire)
    case .plain: return PlainUpload(form: nil)
    case .tus: return try newTus(upload)
    case .form(let options): return PlainUpload(form: options)
    case .resumable: return ResumableUpload()
    case .s3: return s3(upload)
    case .webDAV: return WebDAVUpload()
    case .remoteFile: return RemoteFileUpload()
    }
  }

  /// By the scheme; then by what the server says of itself. A server that answers nothing of use gets a plain request.
  private func automaticWay(
    _ upload: FileUpload, _ request: TransferRequest, _ wire: UploadWire
  ) async throws(TransferError) -> any UploadWay {
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
  /// What an answer to OPTIONS is remembered by. Where the URL ends in the file's own name, it speaks for its siblings too,
  /// so that 10,000 files are not 10,000 questions.
  var serverKey: String {
    if let collection { return "auto " + collection.ledgerTarget }
    let path = request.url.path
    guard let slash = path.lastIndex(of: "/") else { return "auto " + request.url.ledgerTarget }
    let name = source.split(separator: "/").last.map(String.init) ?? ""
    let last = String(path[path.index(after: slash)...])
    let isNamedLikeSource = last == name || SafeFileName.percentDecoded(last) == name
    return "auto " + request.url.origin + (isNamedLikeSource ? String(path[...slash]) : path)
  }
}
