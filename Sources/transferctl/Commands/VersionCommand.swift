import ArgumentParser
import TransferAPI

struct VersionCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "version", abstract: "Print the versions of both programs.")

  @OptionGroup var daemon: ConnectionOptions

  func run() async throws {
    try Output.standard.line("transferctl \(Version.current)")
    try Output.standard.flush()
    do {
      guard let client = try await daemon.connection().find() else {
        return Notice.say("transferd is not running")
      }
      try Output.standard.line("transferd \(try await client.stats().version.printable)")
    } catch let error as OutputError {
      throw error
    } catch {
      // This program's version has been printed: that is enough to succeed.
      Notice.say("transferd does not respond: \(CommandFailure(error)?.message ?? String(describing: error))")
    }
  }
}
