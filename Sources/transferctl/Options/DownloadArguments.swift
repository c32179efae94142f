import ArgumentParser
import TransferAPI

extension IfExists: ExpressibleByArgument {}

/// The options of `add` for the downloaded file.
struct DownloadArguments: ParsableArguments {
  @Option(
    name: [.customShort("d"), .customLong("directory")],
    help: ArgumentHelp("The directory for the files; the default is the current directory.", valueName: "dir"),
    completion: .directory)
  var directory: String?

  @Option(
    name: [.customShort("o"), .customLong("output")],
    help: ArgumentHelp(
      "The file's name, or a path below -d, with {host} {path} {name} of the URL and {n}, the number in this call.",
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

  @Option(
    help: ArgumentHelp("Fail if the file is larger, in bytes, with K, M or G.", valueName: "size"),
    transform: { try ByteSize(parsing: $0) })
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

  func validate() throws {
    if output != nil, nameFromResponse { throw ValidationError("-o and -J exclude each other.") }
    if let output { _ = try validated { try OutputTemplate(parsing: output) } }
    if let directory, directory.isEmpty { throw ValidationError("-d is empty.") }
    if let partDir, partDir.isEmpty { throw ValidationError("--part-dir is empty.") }
    if let checksum { _ = try validated(about: "checksum") { try Checksum(parsing: checksum) } }
    if let segments { _ = try validated(about: "segments") { try SegmentCount(parsing: segments) } }
  }

  func options(_ paths: PathResolver) throws -> JobOptions.Download {
    var options = JobOptions.Download()
    options.nameFromResponse = nameFromResponse
    options.createDirectories = createDirs
    (options.replace, options.ifExists, options.ifChanged) = (replace, ifExists, ifChanged)
    (options.checksum, options.mode, options.remoteTime) = (checksum, mode, remoteTime)
    options.maxSize = maxSize?.bytes
    options.mirrors = mirrors
    options.urlFrom = try urlFrom.map { text in try validated(about: "urlFrom") { try SecretReference(parsing: text) } }
    options.partDir = try partDir.map { try paths.absolute($0) }
    if let segments { options.segments = try SegmentCount(parsing: segments) }
    return options
  }
}
