import ArgumentParser
import TransferAPI

extension IfExists: ExpressibleByArgument {}

/// The options of `add` that describe its jobs.
struct AddOptions: ParsableArguments {
  @Option(
    name: [.customShort("d"), .customLong("directory")],
    help: ArgumentHelp("The directory for the files; the default is the current directory.", valueName: "dir"),
    completion: .directory)
  var directory: String?

  @Option(
    name: [.customShort("o"), .customLong("output")],
    help: ArgumentHelp(
      "The file's name, or a path below -d, with {host} {path} {name} of the URL and {n}, the job's number.",
      valueName: "template"),
    completion: .file())
  var output: String?

  @Flag(help: "Create missing directories.")
  var createDirs = false

  @Flag(help: "Replace an existing file when the download is complete; the same as --if-exists replace.")
  var replace = false

  @Option(
    help: ArgumentHelp(
      "What to do if the file exists: fail (the default), skip, verify its digest and replace it if that differs, rename the new file, or replace it.",
      valueName: "rule"))
  var ifExists: IfExists?

  @Flag(help: "Fetch a file only if it has changed on the server; never replace one that has changed here.")
  var ifChanged = false

  @Option(help: ArgumentHelp("The expected digest of the file, like sha-256=9f86….", valueName: "alg=hex"))
  var checksum: String?

  @Option(help: ArgumentHelp("The permissions of the file, like 0644; at most 0777.", valueName: "octal"))
  var mode: String?

  @Flag(help: "Give the file the modification time that the server reports.")
  var remoteTime = false

  @Option(help: ArgumentHelp("Fail if the file is larger, in bytes, with K, M or G.", valueName: "size"))
  var maxSize: ByteSize?

  @Option(
    name: .customLong("mirror"),
    help: ArgumentHelp("Another URL of the same file; repeatable, the preferred ones first.", valueName: "url"))
  var mirrors: [String] = []

  @Option(
    help: ArgumentHelp(
      "Keep the part file in this directory, which must exist; the default is beside the file.", valueName: "dir"),
    completion: .directory)
  var partDir: String?

  @Option(
    help: ArgumentHelp("The action on the file when it is complete: keep, or move=DIR.", valueName: "action"))
  var onSuccess = "keep"

  @Option(
    help: ArgumentHelp(
      "How many connections fetch the file: 1 to 32, or auto (one, and up to 4 for large files while more help).",
      valueName: "n|auto"))
  var segments: String?

  @Option(
    help: ArgumentHelp(
      "Where a new URL of the file is asked for after 401, 403, 404 and 410: env:NAME, file:PATH or exec:COMMAND.",
      valueName: "reference"))
  var urlFrom: String?

  @Option(
    help: ArgumentHelp("An idempotency key: adding the same key again returns the same job.", valueName: "key"))
  var key: String?

  @Flag(
    name: [.customShort("J"), .customLong("remote-header-name")], help: "Use the file name from the server's response.")
  var nameFromResponse = false

  @OptionGroup var relay: RelayArguments

  @OptionGroup var listing: ListingArguments

  @OptionGroup var s3: S3Arguments

  @OptionGroup var job: JobArguments

  func validate() throws {
    if output != nil, nameFromResponse { throw ValidationError("-o and -J exclude each other.") }
    if let output { _ = try validated { try OutputTemplate(parsing: output) } }
    if listing.recursive, output != nil {
      throw ValidationError("-o is for one file; --recursive keeps the names below -d.")
    }
    if let directory, directory.isEmpty { throw ValidationError("-d is empty.") }
    if let partDir, partDir.isEmpty { throw ValidationError("--part-dir is empty.") }
    try job.network.check(key: key)
    if let checksum { _ = try validated { try Checksum(parsing: checksum) } }
    if let segments { _ = try validated { try SegmentCount(parsing: segments) } }
    if relay.thenUpload != nil { try validateRelay() }
    // Files and descriptors are read when the command runs.
    let template = try template(PathResolver(), readingSources: false)
    try validated {
      try template.options.check()
      try template.checkFreshness()
      try template.checkListing()
      try template.checkRelay()
      try template.checkSuccessAction()
    }
  }

  private func validateRelay() throws {
    let useless = [("-d", directory != nil), ("-o", output != nil), ("--recursive", listing.recursive)].first { $0.1 }
    if let useless { throw ValidationError("\(useless.0) is for files on this machine; --then-upload leaves none.") }
  }

  /// A job that has only these options set.
  private func template(_ paths: PathResolver, readingSources: Bool = true) throws -> NewJob {
    var template = try job.template(paths, readingSources: readingSources)
    template.key = key
    var download = JobOptions.Download()
    download.nameFromResponse = nameFromResponse
    download.createDirectories = createDirs
    (download.replace, download.ifExists, download.ifChanged) = (replace, ifExists, ifChanged)
    (download.checksum, download.mode, download.remoteTime) = (checksum, mode, remoteTime)
    download.maxSize = maxSize?.bytes
    download.mirrors = mirrors
    download.urlFrom = try urlFrom.map { text in try validated { try SecretReference(parsing: text) } }
    download.partDir = try partDir.map { try paths.absolute($0) }
    template.options.onSuccess = try validated { try SuccessAction(parsing: onSuccess) }
    if let segments { download.segments = try SegmentCount(parsing: segments) }
    template.options.download = download
    template.options.s3 = s3.options
    template.options.listing = listing.options
    if listing.recursive { template.kind = .listing }
    if let target = relay.thenUpload {
      (template.kind, template.destination) = (.relay, target)
      template.options.upload = try relay.options()
      template.options.relay = try relay.relayOptions()
    }
    return template
  }

  /// - Throws: `CommandFailure` for the directory.
  func defaults(_ paths: PathResolver = PathResolver()) throws -> JobDefaults {
    var defaults = JobDefaults(
      directory: try directory.map { try paths.absolute($0) } ?? paths.absolute(paths.currentDirectory()))
    defaults.output = try output.map { text throws(WireError) in try OutputTemplate(parsing: text) }
    defaults.job = try template(paths)
    defaults.job.options.onSuccess = try defaults.job.options.onSuccess.resolved(paths)
    defaults.paths = paths
    return defaults
  }
}
