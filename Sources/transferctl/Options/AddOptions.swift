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

  @Option(help: ArgumentHelp("A header to send, \"Name: value\"; may be repeated.", valueName: "header"))
  var header: [String] = []

  @Option(help: ArgumentHelp("Put the jobs into this batch.", valueName: "name"))
  var batch: String?

  @Option(
    help: ArgumentHelp("The same key answers the same job, however often it is added.", valueName: "key"))
  var key: String?

  @Option(
    parsing: .unconditional, help: ArgumentHelp("Higher ones go first; 0 otherwise.", valueName: "n"))
  var priority = 0

  @Flag(help: "Add without starting; resume starts.")
  var paused = false

  @Option(help: ArgumentHelp("Bytes a second, with K, M or G.", valueName: "rate"))
  var limitRate: ByteRate?

  @Option(
    parsing: .unconditional,
    help: ArgumentHelp("Give up after so many further tries without progress.", valueName: "n"))
  var retries: Int?

  @Option(help: ArgumentHelp("How long connecting may take: 30, 30s, 5m.", valueName: "time"))
  var connectTimeout: TimeSpan?

  @Option(help: ArgumentHelp("Try anew after so long without a byte.", valueName: "time"))
  var stallTimeout: TimeSpan?

  @Flag(
    name: [.customShort("J"), .customLong("remote-header-name")], help: "Take the name the server gives.")
  var nameFromResponse = false

  func validate() throws {
    if output != nil, nameFromResponse { throw ValidationError("-o and -J exclude each other.") }
    if let output { try validated { try Syntax.check(outputName: output) } }
    if let directory, directory.isEmpty { throw ValidationError("-d is empty.") }
    if let batch, batch.isEmpty { throw ValidationError("--batch is empty.") }
    if let key, key.isEmpty { throw ValidationError("--key is empty.") }
    if let checksum { _ = try validated { try Checksum(parsing: checksum) } }
    if let retries, !(0...1_000_000).contains(retries) {
      throw ValidationError("--retries is a number from 0 to 1000000.")
    }
    _ = try headers()
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
    defaults.headers = try headers()
    defaults.batch = batch
    defaults.key = key
    defaults.priority = priority
    defaults.paused = paused
    defaults.limitRate = limitRate?.bytesPerSecond
    defaults.maxAttempts = retries.map { $0 + 1 }
    defaults.connectTimeout = connectTimeout?.seconds
    defaults.stallTimeout = stallTimeout?.seconds
    defaults.paths = paths
    return defaults
  }

  private func headers() throws -> [String: String] {
    var headers: [String: String] = [:]
    var names: Set<String> = []
    for text in header {
      let (name, value) = try validated { try Syntax.header(text) }
      guard names.insert(name.lowercased()).inserted else {
        throw ValidationError("The header \(name) is given twice.")
      }
      headers[name] = value
    }
    return headers
  }
}
