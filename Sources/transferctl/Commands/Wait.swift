import ArgumentParser
import TransferAPI

struct Wait: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "wait", abstract: "Wait until jobs have ended; exit 0 only if all completed.",
    discussion: """
      Jobs that are added to the batch meanwhile (with --all: any new jobs) are waited for too. Jobs that have already ended \
      count: a failed one makes the exit status 1.
      """)

  @OptionGroup var daemon: ConnectionOptions
  @OptionGroup var owner: OwnerOptions

  @Argument(help: ArgumentHelp("The ids of the jobs.", valueName: "id"))
  var ids: [JobID] = []

  @Option(help: ArgumentHelp("All jobs of this batch.", valueName: "name"))
  var batch: String?

  @Flag(help: "All jobs.")
  var all = false

  @Option(
    help: ArgumentHelp("Stop waiting after this time; the jobs continue.", valueName: "time"),
    transform: { try TimeSpan(parsing: $0) })
  var timeout: TimeSpan?

  func validate() throws {
    if try target() == nil { throw ValidationError("Name the jobs: ids, --batch or --all.") }
  }

  func run() async throws {
    guard let target = try target() else { throw CommandFailure(.usage, "no jobs are named") }
    let connection = try daemon.connection(of: owner)
    let end = try await Waiter(target, connection: connection)
      .run(from: try await connection.open(), timeout: timeout?.duration)
    if end != .done { throw CommandFailure(end) }
  }

  private func target() throws -> WaitTarget? { try WaitTarget(ids: ids, batch: batch, all: all) }
}
