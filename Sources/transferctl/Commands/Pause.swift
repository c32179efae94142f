import ArgumentParser
import TransferAPI

struct Pause: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "pause", abstract: "Pause jobs; the bytes on disk are kept.")
  @OptionGroup var daemon: ConnectionOptions
  @OptionGroup var owner: OwnerOptions
  @OptionGroup var jobs: SelectorOptions

  func run() async throws { try await VerbRun.run(.pause, jobs, daemon, owner) }
}
