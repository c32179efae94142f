import FoundationEssentials
import TransferAPI
import WireValues

/// The options of `add`, which apply to every job. A JSON line of `-i` may override them.
struct JobDefaults: Sendable {
  /// An absolute path. Relative paths in lines are resolved below it.
  var directory: String
  /// `-o`
  var output: OutputTemplate?
  /// `--base`: where relative URLs begin.
  var base: URLReference?
  /// `--glob`: whether URLs contain ranges and lists.
  var globs = false
  /// `--checksums`
  var checksums: ChecksumList?
  /// The job that the options describe.
  var job = NewJob(source: "")
  var paths = PathResolver()
  /// Whether uploads are accepted, as `import` does.
  var acceptsUploads = false

  init(directory: String) { self.directory = directory }

  /// - Parameter number: of the job in this call, from 1.
  /// - Throws: `WireError` for the URL, `CommandFailure` for the path, `FileFault` for a missing checksum.
  func job(url text: String, number: Int = 1) throws -> NewJob {
    let url = resolved(text)
    try Syntax.check(url: url)
    var job = NewJob(source: url)
    job.kind = self.job.kind
    job.fill(from: self.job, except: [])
    if job.kind == .relay { return try relay(job) }
    if let output {
      job.destination = try paths.absolute(output.expanded(for: url, number: number), relativeTo: directory)
      job.options.download.nameFromResponse = false
    } else {
      job.directory = directory
    }
    try addChecksum(to: &job)
    return job
  }

  /// The URL that an argument or a line means.
  func resolved(_ url: String) -> String {
    guard let base, !url.isEmpty else { return url }
    return base.resolving(url)
  }

  /// The header field with the options of a list of URLs; `nil` if they differ from URL to URL, or if they are too long for a
  /// header field.
  var listOptions: String? {
    var job = job
    job.directory = directory
    return output == nil && checksums == nil && job.kind == .download ? job.listOptions : nil
  }

  /// The job of a JSON line, whose fields override the options.
  /// - Parameter naming: what its fields are called in errors.
  func job(
    json: Data, decoder: JSONDecoder = WireCoding.decoder(), number: Int = 1, naming: FieldNaming = .options
  ) throws -> NewJob {
    let given = try WireCoding.decode(FieldNames.self, from: json, with: decoder).names
    return try naming.explaining(given) {
      try completed(try decoder.decode(NewJob.self, from: json), given: given, number: number)
    }
  }

  /// - Parameters:
  ///   - given: the names of the fields that the line sets.
  ///   - number: of the job in this call, from 1.
  func completed(_ job: NewJob, given: Set<String>, number: Int = 1) throws -> NewJob {
    var job = job
    if self.job.kind == .listing, given.isDisjoint(with: ["kind", "recursive"]) { job.kind = .listing }
    if self.job.kind == .relay { try makeRelay(&job, given) }
    guard job.kind != .upload else {
      guard acceptsUploads else { throw WireError("cannot add an upload here; use transferctl upload --manifest") }
      try job.options.check()
      return job
    }
    job.source = resolved(job.source)
    try Syntax.check(url: job.source)
    job.fill(from: self.job, except: given)
    if job.kind == .relay { return try relay(job) }
    try job.checkRelay()
    job.options.listing.recursive = job.kind == .listing
    try job.options.check()
    try job.checkFreshness()
    try job.checkListing()
    try job.checkSuccessAction()
    try resolveDirectories(of: &job, given)
    try resolveDestination(of: &job, given, number)
    try addChecksum(to: &job)
    return job
  }

  /// Makes the directories of the line's own options absolute.
  private func resolveDirectories(of job: inout NewJob, _ given: Set<String>) throws {
    if given.contains("partDir") {
      job.options.download.partDir = try job.options.download.partDir.map {
        try paths.absolute($0, relativeTo: directory)
      }
    }
    if given.contains("onSuccess"), case .move(let target) = job.options.onSuccess {
      job.options.onSuccess = .move(to: try paths.absolute(target, relativeTo: directory))
    }
  }

  /// Sets the line's destination or directory, or else those of the options; both absolute.
  private func resolveDestination(of job: inout NewJob, _ given: Set<String>, _ number: Int) throws {
    if let destination = job.destination {
      guard job.directory == nil else {
        throw WireError(text: "\(field: "destination") and \(field: "directory") cannot be combined")
      }
      guard !destination.hasTrailingSlash else {
        throw WireError(
          text: "\(field: "destination") names a directory, \(destination); give \(field: "directory") for that")
      }
      job.destination = try paths.absolute(destination, relativeTo: directory)
      if !given.contains("nameFromResponse") { job.options.download.nameFromResponse = false }
    } else {
      let own = try job.directory.map { try paths.absolute($0, relativeTo: directory) } ?? directory
      if let output, !given.contains("nameFromResponse") {
        job.directory = nil
        job.destination = try paths.absolute(output.expanded(for: job.source, number: number), relativeTo: own)
      } else {
        job.directory = own
      }
    }
  }

  /// Adds what `--checksums` has for the URL, unless the job has a checksum of its own.
  func addChecksum(to job: inout NewJob) throws {
    guard let checksums, job.options.download.checksum == nil else { return }
    guard let checksum = checksums[url: job.source] else {
      throw FileFault(
        status: .usage,
        description:
          "cannot add \(Secrets.redacting(url: job.source)): \(checksums.source) has no checksum for its file name")
    }
    job.options.download.checksum = checksum.description
  }
}
