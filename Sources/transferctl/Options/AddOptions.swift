import ArgumentParser
import TransferAPI

/// The options of `add` that say how a job is to be done.
struct AddOptions: ParsableArguments {
  @Option(
    name: [.customShort("d"), .customLong("directory")],
    help: ArgumentHelp("Where the files go; the current directory otherwise.", valueName: "dir"),
    completion: .directory)
  var directory: String?

  @Option(
    name: [.customShort("o"), .customLong("output")],
    help: ArgumentHelp("The file's name, perhaps with directories below -d.", valueName: "name"),
    completion: .file())
  var output: String?

  @Flag(help: "Create missing directories.")
  var createDirs = false

  @Flag(help: "Replace a file that exists, once the new one is whole.")
  var replace = false

  @Option(help: ArgumentHelp("The digest the file must have, like sha-256=9f86….", valueName: "alg=hex"))
  var checksum: String?

  @Option(
    help: ArgumentHelp("The same key answers the same job, however often it is added.", valueName: "key"))
  var key: String?

  @Flag(
    name: [.customShort("J"), .customLong("remote-header-name")], help: "Take the name the server gives.")
  var nameFromResponse = false

  @OptionGroup var job: JobArguments

  func validate() throws {
    if output != nil, nameFromResponse { throw ValidationError("-o and -J exclude each other.") }
    if let output { try validated { try Syntax.check(outputName: output) } }
    if let directory, directory.isEmpty { throw ValidationError("-d is empty.") }
    if let key, key.isEmpty { throw ValidationError("--key is empty.") }
    if let checksum { _ = try validated { try Checksum(parsing: checksum) } }
  }

  /// - Throws: `CommandFailure` for the directory.
  func defaults(_ paths: PathResolver = PathResolver()) throws -> JobDefaults {
    var defaults = JobDefaults(
      directory: try directory.map { try paths.absolute($0) } ?? paths.absolute(paths.currentDirectory()))
    defaults.outputName = output
    defaults.nameFromResponse = nameFromResponse
    defaults.createDirectories = createDirs
    defaults.replace = replace
    defaults.checksum = checksum
    defaults.job = try job.template(paths)
    defaults.key = key
    defaults.paths = paths
    return defaults
  }
}
