import Store
import TransferAPI
import TransferEngine

/// The rules for uploads; those that hold for every job are `JobValidation`'s.
extension JobValidation {
  /// - Throws: `Problem` that says what cannot be accepted.
  func uploadSpec(_ job: NewJob) throws(Problem) -> JobSpec {
    guard job.directory == nil, !job.nameFromResponse, !job.createDirectories, !job.replace else {
      throw Problem(.invalid, "directory, nameFromResponse, createDirectories and replace are for downloads")
    }
    guard job.checksum == nil else { throw Problem(.invalid, "checksum is for downloads") }
    guard let target = job.destination else { throw Problem(.invalid, "missing field \"destination\": the URL") }
    guard target.utf8.count <= Self.maximumURLBytes else { throw Problem(.invalid, "the URL is too long") }
    let url = try Self.target(target)
    var spec = JobSpec(
      owner: caller.uid, uploading: try Self.source(job), to: url.string, origin: try Self.origin(of: url, job.upload),
      credentials: url.credentials.map { .init(username: $0.username, password: $0.password) })
    spec.spool = job.spool
    spec.upload = try Self.checked(job.upload, url)
    if job.spool != nil, job.upload.onSuccess != .keep {
      throw Problem(.invalid, "onSuccess is for files; what came by standard input is deleted anyway")
    }
    return spec
  }

  /// Where files are brought to: what downloads come from, and S3.
  static func target(_ text: String) throws(Problem) -> RequestURL {
    guard text.lowercased().hasPrefix("s3://") else { return try url(text) }
    do {
      return try RequestURL(uploadTarget: text)
    } catch {
      throw Problem(.invalid, error.description)
    }
  }

  private static func source(_ job: NewJob) throws(Problem) -> String {
    if let token = job.spool {
      guard job.source.isEmpty else { throw Problem(.invalid, "give either source or spool, not both") }
      guard SpoolDirectory.isToken(token) else { throw Problem(.invalid, "\"\(shown(token))\" is no spool token") }
      // Completed with its path by who knows the state directory.
      return token
    }
    return try checked(job.source)
  }

  /// What connections and limits are counted by. Of S3 without an endpoint: the name of the bucket's host.
  static func origin(of url: RequestURL, _ options: UploadOptions) throws(Problem) -> String {
    if let endpoint = options.endpoint {
      let endpoint = try Self.url(endpoint)
      guard endpoint.scheme == "http" || endpoint.scheme == "https" else {
        throw Problem(.invalid, "the endpoint must be an http or https URL")
      }
      return endpoint.origin
    }
    return url.scheme == "s3" ? "https://\(url.host).s3.amazonaws.com:443" : url.origin
  }

  private static func checked(_ options: UploadOptions, _ url: RequestURL) throws(Problem) -> UploadOptions {
    let isHTTP = url.scheme == "http" || url.scheme == "https"
    let isS3 = options.uploadProtocol == .s3 || url.scheme == "s3"
    if url.scheme == "s3", options.uploadProtocol != .s3, options.uploadProtocol != .auto {
      throw Problem(.invalid, "an s3 URL goes with the protocol s3")
    }
    if !isHTTP, !isS3, options.uploadProtocol != .auto {
      throw Problem(.invalid, "the protocol \(options.uploadProtocol.rawValue) goes with http and https URLs")
    }
    if isS3, url.path.isEmpty || url.path.hasSuffix("/") {
      throw Problem(.invalid, "the S3 URL names no key")
    }
    if isS3, url.string.contains("?") { throw Problem(.invalid, "an object's URL has no query") }
    if !isS3, options.endpoint != nil || options.region != nil || options.profile != nil {
      throw Problem(.invalid, "endpoint, region and profile are for S3")
    }
    if options.method != nil, !isHTTP || ![.auto, .plain, .form].contains(options.uploadProtocol) {
      throw Problem(.invalid, "method is for plain uploads and forms")
    }
    if options.verify,
      !isHTTP || isS3 || options.method == .post || ![.auto, .plain, .webdav].contains(options.uploadProtocol)
    {
      throw Problem(.invalid, "verify is for PUT and WebDAV; the other protocols compare by themselves, or cannot ask")
    }
    if options.ifAbsent, !options.replacesTarget {
      throw Problem(.invalid, "ifAbsent is for uploads that put the file under its URL, not for POST, forms and tus")
    }
    if !options.form.isEmpty, options.uploadProtocol != .form {
      throw Problem(.invalid, "form fields go with the protocol form")
    }
    guard options.form.count(where: { $0.value == .file }) <= 1 else {
      throw Problem(.invalid, "the file is one field of a form, not several")
    }
    for text in [options.profile, options.region] { _ = try name(text, "profile and region") }
    var options = options
    if let collection = options.collection {
      let collection = try Self.url(collection)
      guard collection.origin == url.origin, isHTTP else {
        throw Problem(.invalid, "the collection must be at the destination's server")
      }
      options.collection = collection.string
    }
    if case .move(let directory) = options.onSuccess {
      let checked = try Self.checked(directory, true)
      options.onSuccess = .move(to: checked == "/" ? checked : String(checked.dropLast()))
    }
    return options
  }

  /// What is looked up elsewhere, if the caller may have it looked up.
  func references(of job: NewJob, into spec: inout JobSpec) throws(Problem) {
    let all = [job.credentials].compactMap { $0 } + job.secretHeaders.values.map(\.reference)
    for reference in all where !caller.mayUse(reference) {
      let others = if case .command = reference { "" } else { ", and root," }
      throw Problem(
        .permission, "only the user that runs transferd\(others) may name secrets by \(Self.kind(of: reference))")
    }
    for name in job.secretHeaders.keys {
      _ = try Self.headers([name: ""])
      guard !job.headers.keys.contains(where: { $0.lowercased() == name.lowercased() }) else {
        throw Problem(.invalid, "the header \(name) is given twice")
      }
    }
    spec.credentialsReference = job.credentials
    spec.secretHeaders = job.secretHeaders
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
