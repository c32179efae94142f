import ArgumentParser
import FoundationEssentials
import TransferAPI

struct Add: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Add downloads; print their ids.",
    discussion: """
      Each line of -i is a URL or a JSON object with the fields of POST /v1/jobs; blank lines and lines that begin \
      with # are skipped. A line's own fields win over the options; its relative paths are below -d. All lines \
      are checked before any job is added. In a crontab, % means a new line: put such URLs into a file.
      """)

  @OptionGroup var daemon: ConnectionOptions
  @OptionGroup var options: AddOptions

  @Argument(help: ArgumentHelp("What to download; http or https.", valueName: "url"))
  var urls: [String] = []

  @Option(
    name: [.customShort("i"), .customLong("from-file")],
    help: ArgumentHelp("Read URLs or JSON objects from a file, - for standard input.", valueName: "file"),
    completion: .file())
  var input: String?

  @Flag(help: "Wait until the jobs have ended; exit 0 only if all completed.")
  var wait = false

  @Option(help: ArgumentHelp("Wait no longer than this; the jobs go on.", valueName: "time"))
  var timeout: TimeSpan?

  func validate() throws {
    guard !urls.isEmpty || input != nil else { throw ValidationError("Name a URL, or a file with -i.") }
    if timeout != nil, !wait { throw ValidationError("--timeout is for --wait.") }
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
    let defaults = try options.defaults()
    var lines = JobLines()
    for url in urls { lines.add(argument: url, defaults) }
    if let input { lines.add(file: try InputFile.read(input), defaults) }
    try lines.requireFaultless()
    guard lines.count > 0 else {
      Notice.say("nothing to add")
      return
    }

    try Output.standard.requireOpen()
    let connection = try daemon.connection()
    let client = try await connection.open()
    // What happens from here on is all that can happen to jobs that do not exist yet.
    let beginning = wait && lines.count > Waiter.describedJobs ? try await client.stats().lastEvent : nil
    let outcome = try await Submission.send(
      lines, alone: urls.count == 1 && input == nil, from: client, over: connection)
    if wait, !outcome.ids.isEmpty {
      let end = try await Waiter(
        .ids(SelectorOptions.unique(outcome.ids)), connection: connection,
        beginning: outcome.hasExisting ? nil : beginning, tellsEnded: !outcome.hasExisting
      ).run(from: outcome.client, timeout: timeout?.duration)
      if end == .timedOut || outcome.failure == nil, end != .done { throw CommandFailure(end) }
    }
    if let failure = outcome.failure { throw CommandFailure(failure) }
  }
}
