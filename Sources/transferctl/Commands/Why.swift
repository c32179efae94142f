import ArgumentParser
import TransferAPI

struct Why: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "why", abstract: "Say why a job does not run, and what would change that.")

  @OptionGroup var daemon: ConnectionOptions

  @Argument(help: ArgumentHelp("The id of the job.", valueName: "id"))
  var id: JobID

  func run() async throws {
    try Output.standard.lines(WhyText.lines(try await daemon.open().job(id)))
  }
}
