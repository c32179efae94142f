import Store
import TransferAPI
import TransferEngine
import WireValues

/// The validation rules for uploads, in addition to those for all jobs.
extension JobValidation {
  /// Validates an upload.
  /// - Throws: `Problem` that describes the invalid option.
  func uploadSpec(_ job: NewJob) throws(Problem) -> JobSpec {
    if let name = job.directory == nil ? job.options.firstDownloadOption : "directory" {
      throw Problem(.invalid, text: "\(field: name) is for downloads")
    }
    guard let target = job.destination else {
      throw Problem(.invalid, text: "missing field \"\(field: "destination")\": the URL")
    }
    try Self.checkLength(of: target)
    let url = try Self.target(target)
    var spec = JobSpec(
      owner: caller.uid, uploading: try Self.source(job), to: url.string,
      origin: try Self.origin(of: url, job.options.s3),
      credentials: Self.credentials(of: url))
    spec.spool = job.spool
    spec.options = try Self.checked(job.options, url)
    try Self.checkS3(job.options, url)
    spec.options.upload = try Self.checked(job.options.upload, url)
    if job.spool != nil, job.options.onSuccess != .keep {
      throw Problem(
        .invalid, text: "\(field: "onSuccess") is for files; spooled input is always deleted after its upload")
    }
    return spec
  }

  private static func source(_ job: NewJob) throws(Problem) -> String {
    if let token = job.spool {
      guard job.source.isEmpty else {
        throw Problem(.invalid, text: "give either \(field: "source") or \(field: "spool"), not both")
      }
      guard SpoolDirectory.isToken(token) else {
        throw Problem(.invalid, text: "\(field: "spool"): \"\(shown(token))\" is not a token of spooled content")
      }
      // `JobIntake` replaces the token by the file's path, because it knows the state directory.
      return token
    }
    return try checked(job.source)
  }

  static func checked(_ options: JobOptions.Upload, _ url: RequestURL) throws(Problem) -> JobOptions.Upload {
    let isHTTP = url.scheme == "http" || url.scheme == "https"
    let isS3 = options.uploadProtocol == .s3 || url.scheme == "s3"
    if url.scheme == "s3", options.uploadProtocol != .s3, options.uploadProtocol != .auto {
      throw Problem(
        .invalid,
        text:
          "\(field: "protocol") \(options.uploadProtocol.rawValue) is not for s3: URLs; give s3, or leave it out")
    }
    if !isHTTP, !isS3, options.uploadProtocol != .auto {
      throw Problem(
        .invalid,
        text:
          "\(field: "protocol") \(options.uploadProtocol.rawValue) is for http and https, not for \(url.scheme); leave it out"
      )
    }
    if options.method != nil, !isHTTP || ![.auto, .plain, .form].contains(options.uploadProtocol) {
      throw Problem(
        .invalid, text: "\(field: "method") is for plain uploads and forms over http and https; leave it out")
    }
    if options.verify,
      !isHTTP || isS3 || options.method == .post || ![.auto, .plain, .webdav].contains(options.uploadProtocol)
    {
      throw Problem(
        .invalid,
        text:
          "\(field: "verify") is for PUT and WebDAV; other protocols verify the size themselves or cannot query it")
    }
    if options.ifAbsent, !options.replacesTarget {
      throw Problem(
        .invalid,
        text: "\(field: "ifAbsent") is for uploads that store the file at the URL, not for POST, forms and tus")
    }
    if !options.form.isEmpty, options.uploadProtocol != .form {
      throw Problem(.invalid, text: "\(field: "form") needs \(field: "protocol") form")
    }
    guard options.form.count <= maximumFormFields else {
      throw Problem(.invalid, text: "\(field: "form") has more than \(maximumFormFields) fields")
    }
    guard options.form.reduce(0, { $0 + $1.description.utf8.count }) <= maximumFormBytes else {
      throw Problem(.invalid, text: "\(field: "form") has more than \(maximumFormBytes) bytes")
    }
    guard options.form.allSatisfy({ $0.name.utf8.count <= maximumTextBytes }) else {
      throw Problem(.invalid, text: "\(field: "form") has a field whose name has more than \(maximumTextBytes) bytes")
    }
    guard options.form.count(where: { $0.value == .file }) <= 1 else {
      throw Problem(.invalid, text: "\(field: "form") names the file twice; only one field can be NAME=@")
    }
    var options = options
    if let collection = options.collection {
      try checkLength(of: collection)
      let collection = try Self.url(collection)
      guard collection.origin == url.origin, isHTTP else {
        throw Problem(.invalid, text: "\(field: "collection") must be on the destination's server")
      }
      options.collection = collection.string
    }
    return options
  }

  /// Checks that the caller may use the job's secret references.
  func checkReferences(of options: JobOptions) throws(Problem) {
    var all: [(field: String, reference: SecretReference?)] = [
      ("credentials", options.credentials), ("targetCredentials", options.relay.targetCredentials),
      ("proxyCredentials", options.network.proxyCredentials), ("urlFrom", options.download.urlFrom),
    ]
    for name in options.secretHeaders.keys.sorted() {
      all.append(("secretHeaders", options.secretHeaders[name]?.reference))
    }
    for (field, reference) in all {
      guard let reference, !caller.mayUse(reference) else { continue }
      let others = if case .command = reference { "" } else { ", and root," }
      throw Problem(
        .permission,
        text:
          "\(field: field): only the user that runs transferd\(others) may name secrets by \(Self.kind(of: reference))")
    }
  }

  private static func kind(of reference: SecretReference) -> String {
    switch reference {
    case .netrc: "netrc"
    case .environment: "env:"
    case .file: "file:"
    case .command: "exec:"
    }
  }
}
