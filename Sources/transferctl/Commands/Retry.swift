import ArgumentParser
import TransferAPI

struct Retry: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "retry", abstract: "Start failed or cancelled jobs again, and retrying ones at once.")
  @OptionGroup var daemon: ConnectionOptions
  @OptionGroup var owner: OwnerOptions
  @OptionGroup var jobs: SelectorOptions

  func run() async throws { try await VerbRun.run(.retry, jobs, daemon, owner) }
}
