import ArgumentParser
import FoundationEssentials
import TransferAPI

struct Add: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "add", abstract: "Add downloads and print their ids.",
    discussion: """
      Each line of -i is a URL or a JSON object with the fields of POST /v1/jobs; blank lines and lines that begin \
      with # are skipped. The fields of a line override the options; its relative paths are resolved below -d. All lines \
      are checked before any job is added. In a crontab, % means a new line: put URLs with % into a file.
      """)

  @OptionGroup var daemon: ConnectionOptions
  @OptionGroup var options: AddOptions

  @Argument(help: ArgumentHelp("The URLs to download.", valueName: "url"))
  var urls: [String] = []

  @Option(
    name: [.customShort("i"), .customLong("from-file")],
    help: ArgumentHelp("Read URLs or JSON objects from this file; - is standard input.", valueName: "file"),
    completion: .file())
  var input: String?

  @OptionGroup var waiting: WaitOptions

  func validate() throws {
    guard !urls.isEmpty || input != nil else { throw ValidationError("Name a URL, or a file with -i.") }
    if input == "-", options.job.readsStandardInput {
      throw ValidationError("Standard input cannot be both a list and headers.")
    }
    guard urls.count > 1 || input != nil else { return }
    if options.output != nil { throw ValidationError("-o is for one URL; with several use -d.") }
    if options.key != nil {
      throw ValidationError("--key names one job; give each line of -i its own \"key\".")
    }
  }

  func run() async throws {
    let body = try body()
    guard body.count > 0 else {
      Notice.say("nothing to add")
      return
    }

    try Output.standard.requireOpen()
    let connection = try daemon.connection()
    let client = try await connection.open()
    // Jobs that do not exist yet can only have events after this number.
    let beginning = waiting.wait && body.count > Waiter.describedJobs ? try await client.stats().lastEvent : nil
    let outcome = try await Submission.send(body, keepsIDs: waiting.wait, from: client, over: connection)
    try await waiting.finish(outcome, outcome.failure, connection, beginning: beginning)
  }

  /// The checked jobs: one object, a list of URLs, or lines of JSON if a line or the options need them.
  private func body() throws -> BulkBody {
    let defaults = try options.defaults()
    let file = try input.map { try ListFile($0) }
    let isAlone = urls.count == 1 && file == nil
    if !isAlone, let fields = defaults.listOptions, var list = try URLList(urls, file) {
      let faults = try list.check { $0.say() }
      guard faults == 0 else { throw CommandFailure(.usage, list.count > 1 ? "nothing was added" : nil) }
      return BulkBody(list, options: fields)
    }
    var lines = JobLines()
    for url in urls { lines.add(argument: url, defaults) }
    if let file { try lines.add(file: file, defaults) }
    try lines.requireFaultless()
    return BulkBody(lines, isAlone: isAlone)
  }
}
