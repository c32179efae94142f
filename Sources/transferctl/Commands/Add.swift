import ArgumentParser
import FoundationEssentials
import TransferAPI
import WireValues

struct Add: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "add", abstract: "Add downloads and relays, and print their ids.",
    discussion: """
      Each line of -i is a URL or a JSON object with the fields of POST /v1/jobs; blank lines and lines that begin \
      with # are skipped. The file may also be an input file of aria2, or CSV with a header. The fields of a line override \
      the options; its relative paths are resolved below -d. All lines are checked before any job is added. In a crontab, \
      % means a new line: put URLs with % into a file.
      """)

  @OptionGroup var daemon: ConnectionOptions
  @OptionGroup var download: DownloadArguments
  @OptionGroup var relay: RelayArguments
  @OptionGroup var listing: ListingArguments
  @OptionGroup var s3: S3Arguments
  @OptionGroup var job: JobArguments
  @OptionGroup var network: NetworkArguments

  @Argument(help: ArgumentHelp("The URLs to download.", valueName: "url"))
  var urls: [String] = []

  @Option(
    name: [.customShort("i"), .customLong("from-file")],
    help: ArgumentHelp("Read URLs or JSON objects from this file; - is standard input.", valueName: "file"),
    completion: .file())
  var input: String?

  @OptionGroup var inputs: InputArguments
  @OptionGroup var dryRun: DryRunOptions
  @OptionGroup var waiting: WaitOptions

  var options: AddOptions {
    AddOptions(download: download, relay: relay, listing: listing, s3: s3, job: job, network: network)
  }

  func validate() throws {
    try options.check()
    if dryRun.dryRun { try inputs.checkDryRun() }
    guard !urls.isEmpty || input != nil || inputs.metalink != nil else {
      throw ValidationError("Name a URL, or a file with -i.")
    }
    try validateMetalink()
    if inputs.inputFormat != .auto, input == nil { throw ValidationError("--input-format needs -i.") }
    let readers = [input == "-", inputs.checksums == "-", inputs.metalink == "-", job.readsStandardInput].count { $0 }
    if readers > 1 { throw ValidationError("Standard input cannot be a list, checksums and headers at once.") }
    if inputs.checksums != nil, download.checksum != nil {
      throw ValidationError("--checksum and --checksums exclude each other.")
    }
    if listing.recursive { try validateListing() }
    guard urls.count > 1 || input != nil else { return }
    if let output = download.output, try validated({ try OutputTemplate(parsing: output).isConstant }) {
      throw ValidationError(DownloadInput.oneName)
    }
    if download.key != nil { throw ValidationError(DownloadInput.oneKey) }
    if !download.mirrors.isEmpty {
      throw ValidationError(DownloadInput.oneFile)
    }
  }

  private func validateListing() throws {
    if dryRun.dryRun {
      throw ValidationError("--dry-run cannot list a server's directories; leave out --recursive.")
    }
    if inputs.checksums != nil { throw ValidationError("--checksums is for files; --recursive takes directories.") }
    if waiting.wait, urls.count > 1 || input != nil, job.batch == nil {
      throw ValidationError("--wait for several directories needs --batch, which is then waited for.")
    }
  }

  func run() async throws {
    var defaults = try options.defaults()
    defaults.globs = inputs.glob
    defaults.base = inputs.base.map { URLReference($0) }
    var opened: (connection: Connection, client: ControlClient)?
    if let name = inputs.checksums {
      let content = try await content(of: name, "the checksums", ChecksumList.maximumBytes, defaults, &opened)
      let shown = FetchedFile.isURL(name) ? Secrets.redacting(url: name) : name
      defaults.checksums = try ChecksumList(content, source: name == "-" ? "standard input" : shown)
    }
    var metalink: Metalink?
    if let name = inputs.metalink {
      let content = try await content(of: name, "the Metalink", Metalink.maximumBytes, defaults, &opened)
      metalink = try Self.metalink(content, from: name)
    }
    let list = try DownloadInput(urls, input, format: inputs.inputFormat, defaults)
    if dryRun.dryRun {
      var lines = dryRun.lines()
      if let metalink { try lines.add(metalink, defaults) } else { try list.add(to: &lines) }
      return try dryRun.print(lines)
    }
    let (body, failure) = try metalink.map { try Self.body(of: $0, defaults) } ?? list.body()
    guard body.count > 0 else {
      Notice.say("nothing to add")
      return
    }

    let (connection, client) = if let opened { opened } else { try await open() }
    // Jobs that do not exist yet can only have events after this number.
    let sums = waiting.wait && body.count > Waiter.describedJobs && defaults.job.options.onSuccess == .keep
    let beginning = sums ? try await client.stats().lastEvent : nil
    let outcome = try await Submission.send(body, keepsIDs: waiting.wait, from: client, over: connection)
    var target: WaitTarget?
    if waiting.wait, listing.recursive, let id = outcome.ids.first {
      // The files that a listing finds join its batch.
      target = try await outcome.client.job(id).job.batch.map { .batch($0) }
    }
    try await waiting.finish(outcome, failure ?? outcome.failure, connection, beginning: beginning, target: target)
  }

  private func open() async throws -> (connection: Connection, client: ControlClient) {
    try Output.standard.requireOpen()
    let connection = try daemon.connection()
    return (connection, try await connection.open())
  }

  /// What a Metalink says itself, and what is for one URL, is not for the files of a Metalink.
  private func validateMetalink() throws {
    guard inputs.metalink != nil else { return }
    guard urls.isEmpty, input == nil else {
      throw ValidationError("--metalink names its own URLs; leave out other URLs and -i.")
    }
    guard relay.thenUpload == nil else {
      throw ValidationError("--metalink is for files on this machine; --then-upload leaves none.")
    }
    guard download.checksum == nil else {
      throw ValidationError("--metalink has the digests of its files; leave out --checksum.")
    }
    guard download.mirrors.isEmpty else {
      throw ValidationError("--metalink names the mirrors of its files; leave out --mirror.")
    }
    guard !download.nameFromResponse else {
      throw ValidationError("--metalink names its files; leave out -J.")
    }
  }

  private static func body(
    of metalink: Metalink, _ defaults: JobDefaults
  ) throws -> (body: BulkBody, failure: ExitStatus?) {
    var lines = JobLines()
    try lines.add(metalink, defaults)
    try lines.requireFaultless()
    return (BulkBody(lines, isAlone: metalink.files.count == 1), lines.faults.first?.status)
  }

  /// The content of a file, of standard input (`-`), or of what is at a URL.
  /// - Parameter opened: the daemon, if it fetches a URL.
  private func content(
    of name: String, _ purpose: String, _ limit: Int, _ defaults: JobDefaults,
    _ opened: inout (connection: Connection, client: ControlClient)?
  ) async throws -> [UInt8] {
    guard FetchedFile.isURL(name) else { return try InputFile.read(name, limit: limit) }
    let (connection, client) = try await open()
    opened = (connection, client)
    let file = FetchedFile(
      url: name, purpose: purpose, maximumBytes: limit, options: defaults.job.options, directory: defaults.directory)
    return try await file.bytes(over: connection, from: client)
  }

  private static func metalink(_ content: [UInt8], from name: String) throws -> Metalink {
    do throws(WireError) {
      return try Metalink(content)
    } catch {
      let source = name == "-" ? "on standard input" : Secrets.redacting(url: name)
      throw CommandFailure(.usage, "the Metalink \(source) \(error); nothing was added")
    }
  }
}
