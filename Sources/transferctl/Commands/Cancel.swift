import ArgumentParser
import TransferAPI

struct Cancel: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "cancel", abstract: "Cancel jobs and delete their partial files.")
  @OptionGroup var daemon: ConnectionOptions
  @OptionGroup var owner: OwnerOptions
  @OptionGroup var jobs: SelectorOptions

  func run() async throws { try await VerbRun.run(.cancel, jobs, daemon, owner) }
}
