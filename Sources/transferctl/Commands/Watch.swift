import ArgumentParser
import TransferAPI

struct Watch: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "watch", abstract: "Show the progress of jobs until they have ended; exit 0 even if some failed.")

  @OptionGroup var daemon: ConnectionOptions
  @OptionGroup var owner: OwnerOptions

  @Argument(help: ArgumentHelp("The ids of the jobs; the default is all jobs.", valueName: "id"))
  var ids: [JobID] = []

  @Option(help: ArgumentHelp("All jobs of this batch.", valueName: "name"))
  var batch: String?

  func validate() throws { _ = try target() }

  func run() async throws {
    let connection = try daemon.connection(of: owner)
    _ = try await Waiter(try target(), connection: connection).run(from: try await connection.open())
  }

  private func target() throws -> WaitTarget {
    try WaitTarget(ids: ids, batch: batch, all: false) ?? .all
  }
}

extension WaitTarget {
  /// `nil` if nothing is named.
  init?(ids: [JobID], batch: String?, all: Bool) throws {
    switch try SelectorOptions.single(ids: ids, batch: batch, all: all) {
    case .ids(let ids): self = .ids(ids)
    case .batch(let name): self = .batch(name)
    case .all: self = .all
    case .state, nil: return nil
    }
  }
}
