import Glibc
import Store
import TransferAPI
import TransferEngine

/// What a client asked for, checked and completed. Rules only; the file system is asked by `DestinationCheck`.
struct JobValidation {
  /// Tries in a row where the job does not say.
  var maxAttempts = 20
  /// Who asks.
  var caller = Caller.owner

  /// What a job may name. The engine knows more.
  static let priorities = -1000...1000
  static let maximumTextBytes = 1024
  /// Linux's PATH_MAX, less the part file's longer name.
  static let maximumPathBytes = 4000
  static let maximumURLBytes = 32 * 1024

  /// Fields that the engine sets itself, or that would let a job speak for another host.
  private static let reservedHeaders: Set<String> = [
    "host", "content-length", "transfer-encoding", "connection", "range", "if-range", "accept-encoding", "te",
    "upgrade", "expect", "trailer", "keep-alive", "proxy-connection", "content-range", "tus-resumable", "upload-offset",
    "upload-complete", "upload-incomplete", "upload-length",
  ]

  /// - Throws: `Problem` that says what cannot be accepted.
  func spec(_ job: NewJob) throws(Problem) -> JobSpec {
    var spec =
      switch job.kind {
      case .download: try downloadSpec(job)
      case .upload: try uploadSpec(job)
      }
    try complete(&spec, from: job)
    try checkPrivileges(spec)
    return spec
  }

  private func downloadSpec(_ job: NewJob) throws(Problem) -> JobSpec {
    guard job.source.utf8.count <= Self.maximumURLBytes else { throw Problem(.invalid, "the URL is too long") }
    let url = try Self.downloadURL(job.source)
    let destination = try Self.destination(job, url)
    var spec = JobSpec(
      owner: caller.uid, url: url.string, origin: url.origin, destination: destination,
      credentials: url.credentials.map { .init(username: $0.username, password: $0.password) })
    spec.replace = job.replace
    spec.createDirectories = job.createDirectories
    spec.nameFromResponse = destination.hasSuffix("/")
    do {
      spec.checksum = try job.checksum.map { text throws(WireError) in try Checksum(parsing: text).description }
    } catch {
      throw Problem(.invalid, error.description)
    }
    return spec
  }

  /// What holds for every job.
  private func complete(_ spec: inout JobSpec, from job: NewJob) throws(Problem) {
    spec.headers = try Self.headers(job.headers)
    try references(of: job, into: &spec)
    spec.batch = try Self.name(job.batch, "batch")
    spec.key = try Self.name(job.key, "key")
    guard Self.priorities.contains(job.priority) else {
      throw Problem(.invalid, "the priority must be from -1000 to 1000")
    }
    spec.priority = job.priority
    spec.paused = job.paused
    if let rate = job.limitRate, rate < 1 { throw Problem(.invalid, "the rate limit must be 1 byte a second or more") }
    spec.limitRate = job.limitRate
    let attempts = job.maxAttempts ?? maxAttempts
    guard (1...1_000_000).contains(attempts) else {
      throw Problem(.invalid, "maxAttempts must be from 1 to 1000000")
    }
    spec.maxAttempts = attempts
    spec.connectTimeout = job.connectTimeout
    spec.stallTimeout = job.stallTimeout
  }

  static func url(_ text: String) throws(Problem) -> RequestURL {
    let url: RequestURL
    do {
      url = try RequestURL(text)
    } catch {
      throw Problem(.invalid, error.description)
    }
    // The engine can; but whoever may add a job need not be allowed to read the daemon's files, or write over them.
    guard url.scheme != "file" else { throw Problem(.invalid, "the scheme \"file\" is not supported") }
    return url
  }

  /// What may be downloaded. Not `file:`: whoever may add a job need not be who may read what the daemon can.
  static let downloadSchemes: Set<String> = ["http", "https", "ftp", "ftpes", "ftps", "sftp", "scp"]

  static func downloadURL(_ text: String) throws(Problem) -> RequestURL {
    let url = try url(text)
    guard downloadSchemes.contains(url.scheme) else {
      throw Problem(
        .invalid, "\(url.scheme): URLs are not downloaded; use \(downloadSchemes.sorted().joined(separator: ", "))")
    }
    guard url.isHTTP || !url.namesDirectory else {
      throw Problem(.invalid, "the URL \(shown(url.string)) names a directory; only files are downloaded")
    }
    return url
  }

  /// The absolute path, or a directory with a trailing slash where the response names the file.
  private static func destination(_ job: NewJob, _ url: RequestURL) throws(Problem) -> String {
    switch (job.destination, job.directory) {
    case (let path?, nil):
      guard !job.nameFromResponse else { throw Problem(.invalid, "nameFromResponse goes with directory") }
      guard !path.hasSuffix("/") else { throw Problem(.invalid, "the destination \"\(shown(path))\" is a directory") }
      return try checked(path)
    case (nil, let directory?):
      let directory = directory.hasSuffix("/") ? String(directory.dropLast()) : directory
      let name = SafeFileName(urlPath: url.path)?.string
      // Without a name in the URL the response may give one.
      if job.nameFromResponse || name == nil { return try checked(directory.isEmpty ? "/" : directory, true) }
      return try checked(directory + "/" + (name ?? "download"))
    case (nil, nil): throw Problem(.invalid, "missing field \"destination\" or \"directory\"")
    case (_?, _?): throw Problem(.invalid, "give either destination or directory, not both")
    }
  }

  static func checked(_ path: String, _ isDirectory: Bool = false) throws(Problem) -> String {
    guard path.hasPrefix("/") else { throw Problem(.invalid, "the path \"\(shown(path))\" is not absolute") }
    guard path.utf8.count <= maximumPathBytes else { throw Problem(.invalid, "the path is too long") }
    var components: [Substring] = []
    for component in path.split(separator: "/", omittingEmptySubsequences: true) where component != "." {
      do {
        try SafeFileName.check(String(component))
      } catch {
        throw Problem(.invalid, error.description)
      }
      components.append(component)
    }
    guard !components.isEmpty || isDirectory else { throw Problem(.invalid, "the path names no file") }
    return "/" + components.joined(separator: "/") + (isDirectory && !components.isEmpty ? "/" : "")
  }

  static func headers(_ headers: [String: String]) throws(Problem) -> [String: String] {
    guard headers.count <= 100 else { throw Problem(.invalid, "more than 100 headers") }
    for (name, value) in headers {
      guard !name.isEmpty, name.utf8.allSatisfy(isToken) else {
        throw Problem(.invalid, "the header name \"\(shown(name))\" is not valid")
      }
      guard !reservedHeaders.contains(name.lowercased()) else {
        throw Problem(.invalid, "the header \(name) is set by transferd itself")
      }
      guard value.utf8.count <= 16 * 1024, value.utf8.allSatisfy({ $0 == 9 || $0 >= 0x20 && $0 != 0x7F }) else {
        throw Problem(.invalid, "the value of the header \(name) contains a control character or is too long")
      }
    }
    return headers
  }

  /// RFC 9110 §5.6.2.
  private static func isToken(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
      UInt8(ascii: "0")...UInt8(ascii: "9"):
      true
    default: "!#$%&'*+-.^_`|~".utf8.contains(byte)
    }
  }

  static func name(_ text: String?, _ what: String) throws(Problem) -> String? {
    guard let text else { return nil }
    guard !text.isEmpty, text.utf8.count <= maximumTextBytes,
      text.unicodeScalars.allSatisfy({ $0.value > 0x1F && $0.value != 0x7F })
    else { throw Problem(.invalid, "the \(what) must have 1 to \(maximumTextBytes) bytes and no control characters") }
    return text
  }

  static func shown(_ text: String) -> String {
    String(text.unicodeScalars.prefix(100).map { $0.value > 0x1F && $0.value != 0x7F ? Character($0) : "?" })
  }
}

/// What the file system says of a destination when a job is added: refused at once rather than found out at night.
struct DestinationCheck {
  /// Where the caller's jobs may write.
  let rules: PathRules
  /// Directories that the rules were asked about a moment ago, and allow.
  private var allowed: Set<String> = []
  /// Directories that were found good a moment ago: many jobs of a group have the same.
  private var good: Set<String> = []

  init(rules: PathRules = .none) { self.rules = rules }

  /// - Throws: `Problem` with `destination-exists`, `destination-missing` or `permission`.
  mutating func check(_ spec: JobSpec) throws(Problem) {
    let isUnnamed = spec.destination.hasSuffix("/")
    var directory = spec.destination.dropLast(isUnnamed ? 1 : 0)
    if !isUnnamed, let slash = directory.lastIndex(of: "/") { directory = directory[..<slash] }
    let path = directory.isEmpty ? "/" : String(directory)
    // First: what is closed to the caller does not even tell whether it exists.
    try checkRules(path, isUnnamed ? nil : Self.name(spec.destination))
    if !good.contains(path) {
      try Self.checkDirectory(path, creating: spec.createDirectories)
      if !spec.createDirectories { good.insert(path) }
    }
    guard !isUnnamed else { return }
    var status = stat()
    guard lstat(spec.destination, &status) == 0 else { return }
    if status.st_mode & S_IFMT == S_IFDIR {
      throw Problem(.destinationExists, "cannot write to \(spec.destination): it is a directory")
    }
    if !spec.replace {
      throw Problem(.destinationExists, "cannot write to \(spec.destination): it exists; use --replace to replace it")
    }
  }

  private static func name(_ path: String) -> String {
    path.lastIndex(of: "/").map { String(path[path.index(after: $0)...]) } ?? path
  }

  private mutating func checkRules(_ directory: String, _ name: String?) throws(Problem) {
    let isSpecial = rules.files.contains { $0.path.hasSuffix("/" + (name ?? "")) }
    guard isSpecial || !allowed.contains(directory) else { return }
    do throws(TransferError) {
      try rules.checkDestination(directory, name: name)
    } catch {
      throw Problem(.permission, error.description)
    }
    allowed.insert(directory)
  }

  private static func checkDirectory(_ path: String, creating: Bool) throws(Problem) {
    var status = stat()
    if stat(path, &status) == 0 {
      guard status.st_mode & S_IFMT == S_IFDIR else {
        throw Problem(.destinationMissing, "cannot write to \(path): it is not a directory")
      }
      guard access(path, W_OK | X_OK) == 0 else {
        throw Problem(.permission, "cannot write to \(path): permission denied")
      }
      return
    }
    guard errno == ENOENT, creating else {
      if errno == EACCES { throw Problem(.permission, "cannot look into \(path): permission denied") }
      throw Problem(.destinationMissing, "the directory \(path) does not exist; use --create-dirs to make it")
    }
    guard let slash = path.lastIndex(of: "/"), path != "/" else { return }
    try checkDirectory(slash == path.startIndex ? "/" : String(path[..<slash]), creating: true)
  }
}
