import FoundationEssentials
import TransferAPI

/// What the options of `add` say of every job it adds. A line of `-i` in JSON may say otherwise of its own.
struct JobDefaults: Sendable {
  /// Absolute. Relative paths of lines are below it.
  var directory: String
  /// `-o`
  var outputName: String?
  var nameFromResponse = false
  var createDirectories = false
  var replace = false
  var checksum: String?
  var key: String?
  /// What downloads and uploads have in common.
  var job = NewJob(source: "")
  var paths = PathResolver()
  /// What was exported may be an upload.
  var acceptsUploads = false

  init(directory: String) { self.directory = directory }

  /// - Throws: `WireError` for the URL, `CommandFailure` for the path.
  func job(url: String) throws -> NewJob {
    try Syntax.check(url: url)
    var job = NewJob(source: url)
    fill(&job, where: { _ in true })
    if let outputName {
      job.destination = try paths.absolute(outputName, relativeTo: directory)
    } else {
      job.directory = directory
      job.nameFromResponse = nameFromResponse
    }
    return job
  }

  /// A line in JSON: its own fields win.
  func job(json: Data, decoder: JSONDecoder = WireCoding.decoder()) throws -> NewJob {
    let given = try decoder.decode(FieldNames.self, from: json).names
    return try completed(try decoder.decode(NewJob.self, from: json), given: given)
  }

  /// - Parameter given: the fields that are not defaults.
  func completed(_ job: NewJob, given: Set<String>) throws -> NewJob {
    var job = job
    guard job.kind == .download else {
      guard acceptsUploads else { throw WireError("uploads are added by transferctl upload --manifest") }
      try check(job)
      return job
    }
    try Syntax.check(url: job.source)
    try check(job)
    fill(&job, where: { !given.contains($0) })
    if let destination = job.destination {
      guard job.directory == nil else { throw WireError("destination and directory exclude each other") }
      guard !destination.hasSuffix("/") else {
        throw WireError("destination names a directory: \(destination)")
      }
      job.destination = try paths.absolute(destination, relativeTo: directory)
    } else {
      job.directory = try job.directory.map { try paths.absolute($0, relativeTo: directory) } ?? directory
      if !given.contains("nameFromResponse") { job.nameFromResponse = nameFromResponse }
    }
    return job
  }

  private func check(_ job: NewJob) throws {
    if let checksum = job.checksum { _ = try Checksum(parsing: checksum) }
    for (name, value) in job.headers { try Syntax.check(header: name, value: value) }
    if let attempts = job.maxAttempts, attempts < 1 { throw WireError("maxAttempts is 1 or more") }
  }

  /// Only of the fields that `isWanted`; headers are joined name by name.
  private func fill(_ job: inout NewJob, where isWanted: (String) -> Bool) {
    if isWanted("createDirectories") { job.createDirectories = createDirectories }
    if isWanted("replace") { job.replace = replace }
    if isWanted("checksum") { job.checksum = checksum }
    if isWanted("key") { job.key = key }
    job.fill(from: self.job, where: isWanted)
  }
}

/// The names of a JSON object's fields: what the line said, apart from what a default says.
struct FieldNames: Decodable {
  let names: Set<String>

  private struct AnyKey: CodingKey {
    var stringValue: String
    var intValue: Int? { nil }
    init(stringValue: String) { self.stringValue = stringValue }
    init?(intValue: Int) { nil }
  }

  init(from decoder: any Decoder) throws {
    names = Set(try decoder.container(keyedBy: AnyKey.self).allKeys.map(\.stringValue))
  }
}
