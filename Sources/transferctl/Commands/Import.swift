import ArgumentParser
import TransferAPI

struct Import: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "import", abstract: "Add the jobs that export printed, and print their new ids.",
    discussion: """
      Jobs that were completed, failed or cancelled are skipped; paused ones stay paused. Lines may also be JSON \
      objects with the fields of POST /v1/jobs. All lines are checked before any job is added.
      """)

  @OptionGroup var daemon: ConnectionOptions

  @Argument(
    help: ArgumentHelp("A file with lines of JSON; - is standard input.", valueName: "file"), completion: .file())
  var file: String

  func run() async throws {
    let paths = PathResolver()
    var lines = JobLines()
    var defaults = JobDefaults(directory: try paths.absolute(paths.currentDirectory()))
    defaults.acceptsUploads = true
    try lines.add(exported: try ListFile(file), defaults)
    try lines.requireFaultless()
    if lines.skippedFinal > 0 {
      Notice.say("skipped \(HumanNumbers.jobs(lines.skippedFinal)) that had ended")
    }
    guard lines.count > 0 else {
      Notice.say("nothing to add")
      return
    }
    try Output.standard.requireOpen()
    let outcome = try await Submission.send(BulkBody(lines), from: try await daemon.open())
    if let failure = outcome.failure { throw CommandFailure(failure) }
  }
}
