import ArgumentParser
import TransferAPI

struct Resume: AsyncParsableCommand {
  static let configuration = CommandConfiguration(commandName: "resume", abstract: "Resume paused jobs.")
  @OptionGroup var daemon: ConnectionOptions
  @OptionGroup var owner: OwnerOptions
  @OptionGroup var jobs: SelectorOptions

  func run() async throws { try await VerbRun.run(.resume, jobs, daemon, owner) }
}
