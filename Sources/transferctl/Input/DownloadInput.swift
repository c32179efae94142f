import FoundationEssentials
import TransferAPI

/// The arguments and the list of `add`, which become the body of a request.
struct DownloadInput {
  let urls: [String]
  let file: ListFile?
  /// Not `auto`, if there is a file.
  private let format: InputFormat
  /// Whether lines of JSON and URLs may be mixed, as without `--input-format`.
  private let isMixed: Bool
  let defaults: JobDefaults

  /// - Throws: `CommandFailure` for a list that cannot be read, and for options that it cannot have.
  init(_ urls: [String], _ list: String?, format: InputFormat, _ defaults: JobDefaults) throws {
    self.urls = urls
    self.defaults = defaults
    file = try list.map { try ListFile($0) }
    isMixed = format == .auto
    self.format =
      try file.map { format == .auto ? try InputFormat.decided(by: $0, hasGlobs: defaults.globs) : format } ?? .urls
    if urls.isEmpty, defaults.globs, self.format == .aria2 || self.format == .csv {
      throw CommandFailure(.usage, "cannot use --glob with \(self.format.rawValue): its URLs are not expanded")
    }
  }

  /// The checked jobs: one object, a list of URLs, or lines of JSON if a line or the options need them.
  /// - Returns: the body, and the status for the first URL that is left out.
  func body() throws -> (body: BulkBody, failure: ExitStatus?) {
    let isAlone = isAlone
    let fields = isAlone || format != .urls ? nil : defaults.listOptions
    if let fields, !defaults.globs, defaults.base == nil {
      var list = URLList(urls, file)
      let faults = try list.check { $0.say() }
      guard faults == 0 else { throw CommandFailure(.usage, list.count > 1 ? "nothing was added" : nil) }
      return (BulkBody(list, options: fields), nil)
    }
    var lines = JobLines(fields == nil ? .json : .urls)
    try add(to: &lines)
    try lines.requireFaultless()
    let failure = lines.faults.first?.status
    if let fields { return (BulkBody(urls: lines, options: fields), failure) }
    return (BulkBody(lines, isAlone: isAlone), failure)
  }

  /// Whether there is one URL only, whose refusal becomes the command's error.
  private var isAlone: Bool {
    guard urls.count == 1, file == nil else { return false }
    // A faulty glob is reported when it is added.
    return !defaults.globs || (try? URLGlob(parsing: urls[0]))?.count == 1
  }

  /// Adds all jobs, or their faults.
  /// - Throws: `CommandFailure` for a file that cannot be read, or for several URLs with one name or key.
  func add(to lines: inout JobLines) throws {
    for url in urls { try lines.add(argument: url, defaults) }
    if let file { try lines.add(file: file, defaults, format: format, isMixed: isMixed) }
    if lines.count > 1, defaults.sendsAllToOneURL { throw CommandFailure(.usage, Self.oneTarget) }
    guard lines.count > 1, file == nil else { return }
    if defaults.output?.isConstant ?? false { throw CommandFailure(.usage, Self.oneName) }
    if defaults.job.key != nil { throw CommandFailure(.usage, Self.oneKey) }
    if !defaults.job.options.download.mirrors.isEmpty { throw CommandFailure(.usage, Self.oneFile) }
  }

  static let oneName = "-o is for one URL; with several use -d, or put {name}, {path} or {n} into -o."
  static let oneFile = "--mirror is for one URL; in a list, give each job its own \"mirrors\"."
  static let oneTarget =
    "cannot upload several files to one URL; end --then-upload with a slash, or give each line its own \"thenUpload\"."
  static let oneKey = "--key names one job; give each line of -i its own \"key\"."
}
