import ArgumentParser
import FoundationEssentials
import TransferAPI

struct Upload: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Add uploads of files; print their ids.",
    discussion: """
      Paths may also come from a list (-i, with -0 for the output of find -print0), or with all they need from a manifest \
      of JSON lines. A file that cannot be read is named and makes the exit status other than 0; the others are added. \
      "upload -" sends standard input, which is stored by the daemon first.
      """)

  @OptionGroup var daemon: ConnectionOptions
  @OptionGroup var options: UploadArguments

  @Argument(help: ArgumentHelp("Files to upload; - for standard input.", valueName: "path"))
  var paths: [String] = []

  @Option(
    name: [.customShort("i"), .customLong("files-from"), .customLong("from-file")],
    help: ArgumentHelp("Read paths from a file, one a line; - for standard input.", valueName: "file"),
    completion: .file())
  var input: String?

  @Flag(name: [.customShort("0"), .customLong("null")], help: "The paths of -i end with NUL instead of a new line.")
  var isNullSeparated = false

  @Flag(help: "Pass over files of -i that went away since the list was made.")
  var ignoreMissing = false

  @Option(
    help: ArgumentHelp(
      "Read JSON objects from a file, one a line: \"source\", and any field of POST /v1/jobs.", valueName: "file"),
    completion: .file())
  var manifest: String?

  @Option(help: ArgumentHelp("What standard input is called.", valueName: "name"))
  var name: String?

  @Flag(help: "Of jobs that were added before with the same key, try those again that failed or were cancelled.")
  var retryFailed = false

  @Flag(help: "Wait until the jobs have ended; exit 0 only if all completed.")
  var wait = false

  @Option(help: ArgumentHelp("Wait no longer than this; the jobs go on.", valueName: "time"))
  var timeout: TimeSpan?

  private var isStandardInput: Bool { paths == ["-"] }

  func validate() throws {
    guard !paths.isEmpty || input != nil || manifest != nil else {
      throw ValidationError("Name a file, a list with -i, or a manifest.")
    }
    if options.to == nil, manifest == nil { throw ValidationError("Say where to with --to.") }
    if timeout != nil, !wait { throw ValidationError("--timeout is for --wait.") }
    if isNullSeparated || ignoreMissing, input == nil { throw ValidationError("-0 and --ignore-missing are for -i.") }
    if input == "-", manifest == "-" { throw ValidationError("Standard input cannot be both a list and a manifest.") }
    if options.job.readsStandardInput, isStandardInput || input == "-" || manifest == "-" {
      throw ValidationError("Standard input cannot be both what is sent, or a list, and headers.")
    }
    if retryFailed, options.key == nil, manifest == nil { throw ValidationError("--retry-failed is for --key.") }
    if paths.contains("-") {
      guard isStandardInput, input == nil, manifest == nil else {
        throw ValidationError("- is standard input, and goes alone; a file of that name is ./-.")
      }
      guard let name else { throw ValidationError("Say with --name what standard input is called.") }
      try validated { try Syntax.check(outputName: name) }
      if name.contains("/") { throw ValidationError("--name is a name, not a path.") }
    } else if name != nil {
      throw ValidationError("--name is for standard input.")
    }
  }

  func run() async throws {
    let resolver = PathResolver()
    let plan = try options.plan(resolver)
    if isStandardInput, let name { return try await StandardInputUpload(name, plan, self).run() }
    let lines = try lines(plan, resolver)
    try lines.requireFaultless()
    guard lines.count > 0 else {
      Notice.say("nothing to add")
      return
    }
    try Output.standard.requireOpen()
    let connection = try daemon.connection()
    let client = try await connection.open()
    // What happens from here on is all that can happen to jobs that do not exist yet; what becomes of their files is asked for.
    let isTold = wait && lines.count > Waiter.describedJobs && plan.options.onSuccess == .keep && manifest == nil
    let beginning = isTold ? try await client.stats().lastEvent : nil
    let outcome = try await Submission.send(
      lines, alone: lines.count == 1 && paths.count == 1, from: client, over: connection)
    try await finish(outcome, lines.faults.first?.status, connection, beginning: beginning)
  }

  private func lines(_ plan: UploadPlan, _ resolver: PathResolver) throws -> JobLines {
    let files = SourceFiles(
      paths: resolver, root: try options.root.map { try resolver.absolute($0) },
      here: try resolver.absolute(resolver.currentDirectory()), needsDigest: plan.needsDigest)
    let isMany = paths.count > 1 || input != nil || manifest != nil || options.recursive
    if isMany { try plan.requireManyAllowed() }
    var lines = JobLines()
    for path in paths { lines.add(path: path, plan, files, recursive: options.recursive) }
    if let input {
      let bytes = try InputFile.read(input)
      lines.add(list: bytes, nul: isNullSeparated, plan, files, ignoringMissing: ignoreMissing)
    }
    if let manifest { lines.add(manifest: try InputFile.read(manifest), plan, files) }
    return lines
  }

  /// - Parameter fault: of files that could not be added.
  func finish(
    _ outcome: Submission, _ fault: ExitStatus?, _ connection: Connection, beginning: Int64? = nil
  ) async throws {
    if retryFailed, !outcome.spoiled.isEmpty {
      let retried = try await outcome.client.apply(.retry, to: .ids(SelectorOptions.unique(outcome.spoiled)))
      for line in VerbRun.lines(.retry, retried) { Notice.say(line) }
    }
    let failure = fault ?? outcome.failure
    if wait, !outcome.ids.isEmpty {
      let end = try await Waiter(
        .ids(SelectorOptions.unique(outcome.ids)), connection: connection,
        beginning: outcome.hasExisting ? nil : beginning, tellsEnded: !outcome.hasExisting
      ).run(from: outcome.client, timeout: timeout?.duration)
      if end == .timedOut || failure == nil, end != .done { throw CommandFailure(end) }
    }
    if let failure { throw CommandFailure(failure) }
  }
}
