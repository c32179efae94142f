import ArgumentParser
import FoundationEssentials
import TransferAPI
import WireValues

struct Upload: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "upload", abstract: "Add uploads and print their ids.",
    discussion: """
      Paths may also come from a list (-i, with -0 for the output of find -print0) or, with their own options, from a manifest \
      of JSON lines. A file that cannot be read is reported and makes the exit status nonzero; the others are added. \
      "upload -" sends standard input, which the daemon stores first.
      """)

  @OptionGroup var daemon: ConnectionOptions
  @OptionGroup var upload: UploadArguments
  @OptionGroup var s3: S3Arguments
  @OptionGroup var job: JobArguments
  @OptionGroup var network: NetworkArguments

  @Argument(help: ArgumentHelp("The files to upload; - is standard input.", valueName: "path"))
  var paths: [String] = []

  @Option(
    name: [.customShort("i"), .customLong("files-from"), .customLong("from-file")],
    help: ArgumentHelp("Read paths from this file, one per line; - is standard input.", valueName: "file"),
    completion: .file())
  var input: String?

  @Flag(name: [.customShort("0"), .customLong("null")], help: "Paths of -i end with NUL instead of a new line.")
  var isNullSeparated = false

  @Flag(help: "Skip files of -i that no longer exist.")
  var ignoreMissing = false

  @Option(
    help: ArgumentHelp(
      "Read JSON objects from this file, one per line, with \"source\" and any field of POST /v1/jobs.",
      valueName: "file"),
    completion: .file())
  var manifest: String?

  @Option(help: ArgumentHelp("The file name for standard input.", valueName: "name"))
  var name: String?

  @Flag(help: "Retry jobs with the same key that failed or were cancelled.")
  var retryFailed = false

  @OptionGroup var dryRun: DryRunOptions
  @OptionGroup var waiting: WaitOptions

  var options: UploadOptions { UploadOptions(upload: upload, s3: s3, job: job, network: network) }
  private var isStandardInput: Bool { paths == ["-"] }

  func validate() throws {
    try options.check()
    guard !paths.isEmpty || input != nil || manifest != nil else {
      throw ValidationError("Name a file, a list with -i, or a manifest.")
    }
    if upload.to == nil, manifest == nil { throw ValidationError("Name the target with --to.") }
    if isNullSeparated || ignoreMissing, input == nil { throw ValidationError("-0 and --ignore-missing need -i.") }
    if input == "-", manifest == "-" { throw ValidationError("Standard input cannot be both a list and a manifest.") }
    if job.readsStandardInput, isStandardInput || input == "-" || manifest == "-" {
      throw ValidationError("Standard input cannot hold headers and also be the file, the list or the manifest.")
    }
    if retryFailed, upload.key == nil, manifest == nil { throw ValidationError("--retry-failed needs --key.") }
    if paths.contains("-") {
      guard isStandardInput, input == nil, manifest == nil else {
        throw ValidationError("- is standard input and must be the only source; for a file named - write ./-.")
      }
      guard let name else { throw ValidationError("Name standard input with --name.") }
      if name.containsSlash { throw ValidationError("--name must be a name, not a path.") }
      try validated { try Syntax.check(outputName: name, of: "--name") }
    } else if name != nil {
      throw ValidationError("--name needs the path -, standard input.")
    }
  }

  func run() async throws {
    let resolver = PathResolver()
    let plan = try options.plan(resolver)
    if isStandardInput, let name { return try await StandardInputUpload(name, plan, self).run() }
    let lines = try lines(plan, resolver)
    if dryRun.dryRun { return try dryRun.print(lines) }
    try lines.requireFaultless()
    guard lines.count > 0 else {
      Notice.say("nothing to add")
      return
    }
    try Output.standard.requireOpen()
    let connection = try daemon.connection()
    let client = try await connection.open()
    // Jobs that do not exist yet can only have events after this number. Follow-up actions have no events.
    let canFollowEvents =
      waiting.wait && lines.count > Waiter.describedJobs && plan.job.options.onSuccess == .keep
      && manifest == nil
    let beginning = canFollowEvents ? try await client.stats().lastEvent : nil
    let outcome = try await Submission.send(
      try body(of: lines, plan), keepsIDs: true, from: client, over: connection)
    try await finish(outcome, lines.faults.first?.status, connection, beginning: beginning)
  }

  private func lines(_ plan: UploadPlan, _ resolver: PathResolver) throws -> JobLines {
    let files = SourceFiles(
      paths: resolver, root: try upload.root.map { try resolver.absolute($0) },
      here: try resolver.absolute(resolver.currentDirectory()), needsDigest: plan.needsDigest)
    let isMany = paths.count > 1 || input != nil || manifest != nil || upload.recursive
    if isMany { try plan.requireManyAllowed() }
    let form = isMany && manifest == nil && plan.listOptions != nil ? JobLines.Form.paths : .json
    var lines = dryRun.dryRun ? dryRun.lines() : JobLines(form)
    for path in paths { lines.add(path: path, plan, files, recursive: upload.recursive) }
    if let input {
      try lines.add(list: try ListFile(input), nul: isNullSeparated, plan, files, ignoringMissing: ignoreMissing)
    }
    if let manifest { try lines.add(manifest: try ListFile(manifest), plan, files) }
    return lines
  }

  private func body(of lines: JobLines, _ plan: UploadPlan) throws -> BulkBody {
    var body = BulkBody(lines, isAlone: lines.count == 1 && paths.count == 1)
    if case .paths = lines.form, let options = plan.listOptions { body = BulkBody(paths: lines, options: options) }
    body.skipsMissing = ignoreMissing
    return body
  }

  /// Retries and waits as requested.
  /// - Parameter fault: the status for the first file that could not be added.
  func finish(
    _ outcome: Submission, _ fault: ExitStatus?, _ connection: Connection, beginning: Int64? = nil
  ) async throws {
    if retryFailed, !outcome.endedBefore.isEmpty {
      let retried = try await outcome.client.apply(.retry, to: .ids(SelectorOptions.unique(outcome.endedBefore)))
      for line in VerbRun.lines(.retry, retried) { Notice.say(line) }
    }
    try await waiting.finish(outcome, fault ?? outcome.failure, connection, beginning: beginning)
  }
}
