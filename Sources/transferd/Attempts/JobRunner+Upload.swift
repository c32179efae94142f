import FoundationEssentials
import HTTPTypes
import Store
import TransferAPI
import TransferEngine
import WireValues

extension JobRunner {
  /// The upload of one attempt.
  func upload(
    for record: JobRecord, timeouts: Timeouts, _ reports: AttemptReports
  ) throws(TransferError) -> GroupUpload {
    GroupUpload(
      tag: record.job.id.tag, try fileUpload(record.spec, timeouts), resumingWith: record.resumeData,
      journal: JobUploadJournal(store: store, id: record.job.id, fence: record.fence, reports: reports),
      interceptor: try interceptor(for: record.spec))
  }

  /// The engine's description of a stored upload.
  func fileUpload(_ spec: JobSpec, _ timeouts: Timeouts) throws(TransferError) -> FileUpload {
    var request = try transferRequest(spec, timeouts)
    network.apply(to: &request, of: spec.owner)
    let options = spec.options.upload
    if let method = options.method { request.method = method == .put ? .put : .post }
    var upload = FileUpload(
      request: request, source: spec.source, protocol: Self.uploadProtocol(of: spec.options, request.url))
    upload.rules = sourceRules(spec)
    upload.onChange = options.onChange == .restart ? .restart : .fail
    upload.onlyIfAbsent = options.ifAbsent
    upload.verifiesLength = options.verify
    upload.collection = try spec.target.collection.map { text throws(TransferError) in try RequestURL(text) }
    return upload
  }

  /// The rules for where an upload's source may be.
  func sourceRules(_ spec: JobSpec) -> PathRules {
    guard let spool = spec.spool else { return paths.rules(for: spec.owner, .read) }
    // The copy of a relay has a directory of its own, which may be gone: then the source is missing, not forbidden.
    return spool.contains("/") ? relays.rules : PathPolicy.spoolRules(spec.source.parentPath)
  }

  private static func uploadProtocol(of options: JobOptions, _ url: RequestURL) -> UploadProtocol {
    let s3 = S3Options(options.s3)
    switch options.upload.uploadProtocol {
    case .auto: return url.scheme == "s3" ? .s3(s3) : .automatic
    case .plain: return .plain
    case .form: return .form(form(options.upload.form))
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
