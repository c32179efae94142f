import FoundationEssentials
import Glibc
import Store
import TransferAPI
import TransferEngine
import WireValues

/// Validates a client's request for a job and completes it. It does not use the file system; `DestinationCheck` does.
struct JobValidation {
  /// Default maximum of consecutive attempts without progress.
  var maxAttempts = JobOptions.standardMaxAttempts
  /// The user who adds the job.
  var caller = Caller.owner

  /// The allowed range of priorities.
  static let priorities = -1000...1000
  static let maximumTextBytes = 1024
  /// Linux's PATH_MAX (4096), minus room for the part file's longer name.
  static let maximumPathBytes = 4000
  static let maximumURLBytes = 32 * 1024
  /// All fields of a form, with their names.
  static let maximumFormBytes = 256 << 10
  static let maximumFormFields = 1000

  /// Validates a job.
  /// - Throws: `Problem` that describes the invalid option.
  func spec(_ job: NewJob) throws(Problem) -> JobSpec {
    var spec =
      switch job.kind {
      case .download: try downloadSpec(job)
      case .upload: try uploadSpec(job)
      case .listing: try listingSpec(job)
      case .relay: try relaySpec(job)
      }
    try validated {
      if job.kind != .relay { try job.checkRelay() }
      try job.checkListing()
    }
    try complete(&spec, from: job)
    try checkFreshness(of: spec, job)
    try checkPrivileges(spec)
    return spec
  }

  private func downloadSpec(_ job: NewJob) throws(Problem) -> JobSpec {
    try Self.checkLength(of: job.source)
    let url = try Self.downloadURL(job.source)
    guard !job.options.download.nameFromResponse || url.isHTTP || url.scheme == "s3" else {
      throw Problem(.invalid, text: "\(field: "nameFromResponse") is for http, https and s3, not for \(url.scheme)")
    }
    let destination = try Self.destination(job, url)
    var spec = JobSpec(
      owner: caller.uid, url: url.string, origin: try Self.origin(of: url, job.options.s3), destination: destination,
      credentials: Self.credentials(of: url))
    spec.options = try Self.checked(job.options, url)
    try Self.checkS3(job.options, url)
    spec.options.download.nameFromResponse = destination.hasTrailingSlash
    spec.options.download.partDir = try spec.options.download.partDir.map { path throws(Problem) in
      String(try Self.checked(path, true).withoutTrailingSlash)
    }
    return spec
  }

  /// - Returns: the options with the checksum in its usual form.
  static func checked(_ options: JobOptions, _ url: RequestURL) throws(Problem) -> JobOptions {
    var options = options
    try validated {
      try options.check(scheme: url.scheme)
      options.download.checksum = try options.download.digest()?.description
      try options.download.completeExisting()
    }
    try checkNetwork(options.network)
    return options
  }

  /// Whether the file has changed is found out by its path, which must be known, and at each run, for which a key stands in
  /// the way.
  private func checkFreshness(of spec: JobSpec, _ job: NewJob) throws(Problem) {
    try validated {
      try job.checkFreshness()
      try job.checkSuccessAction()
    }
    guard spec.kind == .download, spec.options.download.ifChanged, spec.destination.hasTrailingSlash else { return }
    throw Problem(
      .invalid,
      text:
        "\(field: "ifChanged") needs a file name, and the URL has none; name the file with \(field: "destination")")
  }

  /// The rules for every job.
  private func complete(_ spec: inout JobSpec, from job: NewJob) throws(Problem) {
    try checkReferences(of: job.options)
    if case .move(let directory) = spec.options.onSuccess {
      spec.options.onSuccess = .move(to: String(try Self.checked(directory, true).withoutTrailingSlash))
    }
    spec.batch = try Self.name(job.batch, "batch")
    spec.key = try Self.name(job.key, "key")
    try Self.check(priority: job.priority)
    try validated { try job.checkDependencies() }
    spec.priority = job.priority
    spec.paused = job.paused
    // With `retryFor` alone only the time counts.
    let standard = job.options.schedule.retryFor == nil ? maxAttempts : JobOptions.maximumAttempts
    spec.options.maxAttempts = job.options.maxAttempts ?? standard
  }

  static func check(priority: Int) throws(Problem) {
    guard priorities.contains(priority) else {
      throw Problem(.invalid, text: "\(field: "priority") must be from -1000 to 1000")
    }
  }

  /// The text of a URL has no credentials: they are stored apart.
  static func credentials(of url: RequestURL) -> JobSpec.Credentials? {
    url.credentials.map { .init(username: $0.username, password: $0.password) }
  }

  static func url(_ text: String) throws(Problem) -> RequestURL {
    let url = try validated { try RequestURL(text) }
    // The engine supports `file:`, but a user who may add jobs may not have access to the files that the daemon can use.
    guard url.scheme != "file" else { throw Problem(.invalid, "the scheme \"file\" is not supported") }
    return url
  }

  static func checkLength(of url: String) throws(Problem) {
    guard url.utf8.count <= maximumURLBytes else {
      throw Problem(.invalid, "the URL is too long; at most \(maximumURLBytes) bytes are allowed")
    }
  }

  static func downloadURL(_ text: String) throws(Problem) -> RequestURL {
    let url = try target(text)
    guard URLText.downloadSchemes.contains(url.scheme) else {
      throw Problem(
        .invalid, "cannot download \(url.scheme): URLs; use \(URLText.downloadSchemes.joined(separator: ", "))")
    }
    guard url.isHTTP || url.scheme == "s3" || !url.namesDirectory else {
      throw Problem(.invalid, "the URL \(shown(url.string)) names a directory; only files can be downloaded")
    }
    return url
  }

  /// The absolute path of the file, or a directory with a trailing slash if the response names the file.
  private static func destination(_ job: NewJob, _ url: RequestURL) throws(Problem) -> String {
    switch (job.destination, job.directory) {
    case (let path?, nil):
      guard !job.options.download.nameFromResponse else {
        throw Problem(
          .invalid,
          text: "\(field: "nameFromResponse") needs \(field: "directory") in place of \(field: "destination")")
      }
      guard !path.hasTrailingSlash else { throw Problem(.invalid, "the destination \"\(shown(path))\" is a directory") }
      return try checked(path)
    case (nil, let directory?):
      let directory = String(directory.withoutTrailingSlash)
      let name = SafeFileName(urlPath: url.path)?.string
      // Without a name in the URL the response may give one.
      if job.options.download.nameFromResponse || name == nil {
        return try checked(directory.isEmpty ? "/" : directory, true)
      }
      return try checked(directory.appendingName(name ?? "download"))
    case (nil, nil):
      throw Problem(.invalid, text: "missing field \"\(field: "destination")\" or \"\(field: "directory")\"")
    case (_?, _?):
      throw Problem(.invalid, text: "give either \(field: "destination") or \(field: "directory"), not both")
    }
  }

  static func checked(_ path: String, _ isDirectory: Bool = false) throws(Problem) -> String {
    guard path.isAbsolutePath else { throw Problem(.invalid, "the path \"\(shown(path))\" is not absolute") }
    guard path.utf8.count <= maximumPathBytes else { throw Problem(.invalid, "the path is too long") }
    var components: [Substring] = []
    for component in path.componentsOfPath where component != "." {
      try validated { try SafeFileName.check(String(component)) }
      components.append(component)
    }
    guard !components.isEmpty || isDirectory else { throw Problem(.invalid, "the path names no file") }
    return "/" + components.joined(separator: "/") + (isDirectory && !components.isEmpty ? "/" : "")
  }

  static func name(_ text: String?, _ field: String) throws(Problem) -> String? {
    guard let text else { return nil }
    guard !text.isEmpty, text.utf8.count <= maximumTextBytes,
      text.unicodeScalars.allSatisfy({ $0.value > 0x1F && $0.value != 0x7F })
    else {
      throw Problem(
        .invalid, text: "\(field: field) must have 1 to \(maximumTextBytes) bytes and no control characters")
    }
    return text
  }

  static func shown(_ text: String) -> String {
    String(text.unicodeScalars.prefix(100).map { $0.value > 0x1F && $0.value != 0x7F ? Character($0) : "?" })
  }
}
