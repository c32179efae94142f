import FoundationEssentials
import HTTPTypes
import Store
import TransferAPI
import TransferEngine

/// One attempt of a job, either way.
enum AttemptRequest: Sendable {
  case download(DownloadRequest)
  case upload(FileUploadRequest)

  func cancel() {
    switch self {
    case .download(let request): request.cancel()
    case .upload(let request): request.cancel()
    }
  }

  func response() async -> AttemptResponse {
    switch self {
    case .download(let request): .download(await request.response())
    case .upload(let request): .upload(await request.response())
    }
  }

  /// Of an upload: the bytes that were sent, or were at the server before.
  var progress: TransferProgress {
    switch self {
    case .download(let request): request.progress
    case .upload(let request):
      TransferProgress(completed: request.progress.sent, total: request.progress.total)
    }
  }
}

/// How an attempt ended, either way.
enum AttemptResponse: Sendable {
  case download(FileResponse)
  case upload(FileUploadResponse)

  var error: TransferError? {
    switch self {
    case .download(let response): response.error
    case .upload(let response): response.error
    }
  }

  var head: ResponseHead? {
    switch self {
    case .download(let response): response.head
    case .upload(let response): response.head
    }
  }

  var respondingOrigin: String? {
    switch self {
    case .download(let response): response.respondingOrigin
    case .upload(let response): response.respondingOrigin
    }
  }
}

extension JobRunner {
  /// The upload for one attempt; not started yet.
  func upload(for record: JobRecord, timeouts: Timeouts) throws(TransferError) -> FileUploadRequest {
    session.upload(
      try fileUpload(record.spec, timeouts), resumingWith: record.resumeData,
      journal: JobUploadJournal(store: store, id: record.job.id, fence: record.fence),
      interceptor: SecretAdapter(record.spec, secrets))
  }

  /// What the engine is told of a stored upload.
  func fileUpload(_ spec: JobSpec, _ timeouts: Timeouts) throws(TransferError) -> FileUpload {
    var request = try transferRequest(spec, timeouts)
    network.apply(to: &request, of: spec.owner)
    let options = spec.upload
    if let method = options.method { request.method = method == .put ? .put : .post }
    var upload = FileUpload(
      request: request, source: spec.source, protocol: Self.uploadProtocol(of: options, request.url))
    upload.rules = sourceRules(spec)
    upload.onChange = options.onChange == .restart ? .restart : .fail
    upload.onlyIfAbsent = options.ifAbsent
    upload.verifiesLength = options.verify
    upload.collection = try options.collection.map { text throws(TransferError) in try RequestURL(text) }
    return upload
  }

  /// Where the source of an upload may be.
  func sourceRules(_ spec: JobSpec) -> PathRules {
    guard spec.spool != nil else { return paths.rules(for: spec.owner, .read) }
    return PathPolicy.spoolRules(FileActionPerformer.parent(of: spec.source))
  }

  private static func uploadProtocol(of options: UploadOptions, _ url: RequestURL) -> UploadProtocol {
    let s3 = S3Options(endpoint: options.endpoint, region: options.region, profile: options.profile)
    switch options.uploadProtocol {
    case .auto: return url.scheme == "s3" ? .s3(s3) : .automatic
    case .plain: return .plain
    case .form: return .form(form(options.form))
    case .tus: return .tus(TusOptions())
    case .resumable: return .resumable
    case .s3: return .s3(s3)
    case .webdav: return .webDAV
    }
  }

  private static func form(_ fields: [FormField]) -> FormOptions {
    var options = FormOptions()
    for field in fields {
      switch field.value {
      case .file: options.fileField = field.name
      case .text(let text): options.fields.append(.init(name: field.name, value: text))
      }
    }
    return options
  }
}

/// Carries an upload's ledger into the job's row, under the fence of its claim.
struct JobUploadJournal: UploadJournal {
  let store: Store
  let id: JobID
  let fence: Int64

  func record(_ ledger: UploadLedger, acknowledged: Int64) async throws {
    let checkpoint = Checkpoint(
      id: id, fence: fence, bytesDone: acknowledged, bytesTotal: ledger.source.size, resumeData: ledger.encoded())
    guard try await store.checkpoint(checkpoint, at: Date()) else { throw LostClaim(id: id) }
  }
}
