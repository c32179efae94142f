import ArgumentParser
import TransferAPI

struct LimitCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "limit", abstract: "Show or change the limits of the whole daemon.",
    discussion: """
      Without options it prints what is in force. A limit stands above the configuration, applies to running transfers \
      and is kept over restarts until --reset. For the daemon's user and root only.
      """)

  @OptionGroup var daemon: ConnectionOptions

  @Option(help: ArgumentHelp("For downloads, in bytes per second with K, M or G, or off.", valueName: "rate"))
  var down: String?

  @Option(help: ArgumentHelp("For uploads, in bytes per second with K, M or G, or off.", valueName: "rate"))
  var up: String?

  @Option(help: ArgumentHelp("The most transfers at once.", valueName: "n"))
  var maxActive: String?

  @Option(help: ArgumentHelp("The most transfers at once with one origin, or auto.", valueName: "n"))
  var maxPerOrigin: String?

  @Flag(help: "Go back to the configuration, before the other options apply.")
  var reset = false

  @Option(help: "The output format.")
  var format = DetailFormat.text

  func validate() throws { _ = try change() }

  func run() async throws {
    let client = try await daemon.open()
    let limits = if let change = try change() { try await client.change(change) } else { try await client.limits() }
    try format.print(limits) { DetailText.lines(limits) }
  }

  /// `nil`: nothing changes.
  private func change() throws -> DaemonLimitChange? {
    var change = DaemonLimitChange()
    change.reset = reset
    if let down { change.down = .some(try LimitText.rate(down, "--down")) }
    if let up { change.up = .some(try LimitText.rate(up, "--up")) }
    if let maxActive { change.maxActive = try LimitText.count(maxActive, "--max-active") }
    if let maxPerOrigin {
      change.maxPerOrigin = .some(try LimitText.count(maxPerOrigin, "--max-per-origin", none: "auto"))
    }
    return change == DaemonLimitChange() ? nil : change
  }
}
