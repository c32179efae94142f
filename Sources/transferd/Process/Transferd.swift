import ArgumentParser
import Glibc
import Logging
import Threads
import TransferAPI

/// The daemon's command line.
@main
struct Transferd: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "transferd",
    abstract: "Runs downloads and uploads, and resumes them after crashes and reboots.",
    discussion: "Runs in the foreground. Controlled by transferctl, or by curl --unix-socket.",
    version: Version.current)

  @Option(name: .customLong("state-dir"), help: "The directory where jobs are stored.")
  var stateDirectory: String?

  @Option(help: "The control socket.")
  var socket: String?

  @Option(help: "A YAML file; see packaging/transferd.yaml.")
  var config: String?

  @Option(help: "Maximum number of concurrent transfers.")
  var maxActive: Int?

  @Option(help: "Maximum number of concurrent transfers with one origin, or auto.")
  var maxPerOrigin: String?

  @Option(help: "What to log, and all above it: trace, debug, info, notice, warning, error or critical.")
  var logLevel: String?

  func validate() throws {
    let range = DaemonConfiguration.activeRange
    if let maxActive, !range.contains(maxActive) {
      throw ValidationError("--max-active must be from 1 to \(range.upperBound)")
    }
    if maxPerOrigin != nil, perOriginLimit == nil {
      throw ValidationError("--max-per-origin must be auto or from 1 to \(range.upperBound)")
    }
    if let logLevel, Logger.Level(rawValue: logLevel) == nil {
      throw ValidationError("--log-level must be one of trace, debug, info, notice, warning, error, critical")
    }
  }

  private var perOriginLimit: PerOriginLimit? {
    maxPerOrigin.flatMap { PerOriginLimit($0, in: DaemonConfiguration.activeRange) }
  }

  func run() throws {
    // Before anything else is opened.
    StandardDescriptors.open()
    // Before any other thread starts, because threads inherit the signal mask.
    let signals = SignalSequence([SIGTERM, SIGINT, SIGHUP])
    let daemon = DaemonProcess(
      flags: .init(
        configurationFile: config, maxActive: maxActive, maxPerOrigin: perOriginLimit,
        logLevel: logLevel.flatMap(Logger.Level.init(rawValue:))),
      socket: socket, stateDirectory: stateDirectory, signals: signals)
    GlobalExecutor.install(count: sysconf(Int32(_SC_NPROCESSORS_ONLN)))
    Task {
      do {
        try await daemon.run()
      } catch {
        StandardError.write("transferd: \(error)\n")
        Glibc.exit(1)
      }
    }
    // The daemon ends the process; the main thread has nothing else to do.
    while true { pause() }
  }
}
