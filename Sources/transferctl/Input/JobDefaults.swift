import FoundationEssentials
import TransferAPI
import WireValues

/// The options of `add`, which apply to every job. A JSON line of `-i` may override them.
struct JobDefaults: Sendable {
  /// An absolute path. Relative paths in lines are resolved below it.
  var directory: String
  /// `-o`
  var outputName: String?
  /// The job that the options describe.
  var job = NewJob(source: "")
  var paths = PathResolver()
  /// Whether uploads are accepted, as `import` does.
  var acceptsUploads = false

  init(directory: String) { self.directory = directory }

  /// - Throws: `WireError` for the URL, `CommandFailure` for the path.
  func job(url: String) throws -> NewJob {
    try Syntax.check(url: url)
    var job = NewJob(source: url)
    job.fill(from: self.job, except: [])
    if let outputName {
      job.destination = try paths.absolute(outputName, relativeTo: directory)
      job.options.download.nameFromResponse = false
    } else {
      job.directory = directory
    }
    return job
  }

  /// The header field with the options of a list of URLs; `nil` if they are too long for a header field.
  var listOptions: String? {
    var job = job
    job.directory = directory
    return outputName == nil ? job.listOptions : nil
  }

  /// The job of a JSON line, whose fields override the options.
  func job(json: Data, decoder: JSONDecoder = WireCoding.decoder()) throws -> NewJob {
    let given = try decoder.decode(FieldNames.self, from: json).names
    return try completed(try decoder.decode(NewJob.self, from: json), given: given)
  }

  /// - Parameter given: the names of the fields that the line sets.
  func completed(_ job: NewJob, given: Set<String>) throws -> NewJob {
    var job = job
    guard job.kind == .download else {
      guard acceptsUploads else { throw WireError("cannot add an upload here; use transferctl upload --manifest") }
      try job.options.check()
      return job
    }
    try Syntax.check(url: job.source)
    job.fill(from: self.job, except: given)
    try job.options.check()
    if let destination = job.destination {
      guard job.directory == nil else { throw WireError("destination and directory cannot be combined") }
      guard !destination.hasTrailingSlash else {
        throw WireError("destination names a directory: \(destination)")
      }
      job.destination = try paths.absolute(destination, relativeTo: directory)
      if !given.contains("nameFromResponse") { job.options.download.nameFromResponse = false }
    } else {
      job.directory = try job.directory.map { try paths.absolute($0, relativeTo: directory) } ?? directory
    }
    return job
  }
}
