import ArgumentParser
import Glibc
import Logging
import TransferAPI

/// The daemon's command line.
@main
struct Transferd: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "transferd",
    abstract: "Keeps downloads and uploads going, across kills and reboots.",
    discussion: "Runs in the foreground. Controlled by transferctl, or by curl --unix-socket.",
    version: Version.current)

  @Option(name: .customLong("state-dir"), help: "Where the jobs are kept.")
  var stateDirectory: String?

  @Option(help: "The control socket.")
  var socket: String?

  @Option(help: "A YAML file; see packaging/transferd.yaml.")
  var config: String?

  @Option(help: "Transfers at once.")
  var maxActive: Int?

  @Option(help: "Transfers at once with one origin.")
  var maxPerOrigin: Int?

  @Option(help: "trace, debug, info, notice, warning or error.")
  var logLevel: String?

  func validate() throws {
    for (name, value) in [("--max-active", maxActive), ("--max-per-origin", maxPerOrigin)] {
      if let value, !DaemonConfiguration.activeRange.contains(value) {
        throw ValidationError("\(name) must be from 1 to \(DaemonConfiguration.activeRange.upperBound)")
      }
    }
    if let logLevel, Logger.Level(rawValue: logLevel) == nil {
      throw ValidationError("--log-level must be one of trace, debug, info, notice, warning, error")
    }
  }

  func run() async throws {
    do {
      try await DaemonProcess(
        flags: .init(
          configurationFile: config, maxActive: maxActive, maxPerOrigin: maxPerOrigin,
          logLevel: logLevel.flatMap(Logger.Level.init(rawValue:))),
        socket: socket, stateDirectory: stateDirectory
      ).run()
    } catch {
      StandardError.write("transferd: \(error)\n")
      throw ExitCode(1)
    }
  }
}
