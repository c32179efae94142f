import ArgumentParser
import TransferAPI

struct Remove: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "remove", abstract: "Remove jobs, and cancel those that have not ended; completed files stay.")
  @OptionGroup var daemon: ConnectionOptions
  @OptionGroup var owner: OwnerOptions
  @OptionGroup var jobs: SelectorOptions

  func run() async throws { try await VerbRun.run(.remove, jobs, daemon, owner) }
}
