import ArgumentParser
import FoundationEssentials
import TransferAPI

struct PlanCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "plan", abstract: "Show when the waiting jobs are expected to begin and to end.",
    discussion: """
      The daemon's own rules decide on a copy of its state, with the speeds that were observed. Where a size or a speed is \
      unknown, so is the end.
      """)

  @OptionGroup var daemon: ConnectionOptions
  @OptionGroup var owner: OwnerOptions

  @Option(help: ArgumentHelp("Only jobs of this batch.", valueName: "name"))
  var batch: String?

  @Flag(help: "All waiting jobs; the default.")
  var all = false

  @Option(help: "The output format.")
  var format = DetailFormat.text

  func validate() throws { _ = try SelectorOptions.single(ids: [], batch: batch, all: all) }

  func run() async throws {
    let client = try await daemon.connection(of: owner).open()
    let path = ControlClient.path("/v1/plan", batch.map { [("batch", $0)] } ?? [])
    let plan: QueuePlan = try await client.get(path)
    guard format == .text else { return try Output.standard.line(try json(plan)) }
    guard !plan.jobs.isEmpty || plan.more > 0 else { return Notice.say("no job waits") }
    var table = PlanTable(Paint(.output), now: Date())
    try Output.standard.lines(table.lines(plan.jobs))
    if plan.more > 0 { Notice.say("\(HumanNumbers.jobs(plan.more)) more") }
  }
}
