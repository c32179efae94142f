import ArgumentParser
import TransferAPI

struct Wait: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Wait until jobs have ended; exit 0 only if all completed.",
    discussion: """
      Jobs that join the batch, or with --all the daemon, in the meantime are waited for too. Jobs that ended before \
      count: a failed one makes the exit status 1.
      """)

  @OptionGroup var daemon: ConnectionOptions
  @OptionGroup var owner: OwnerOptions

  @Argument(help: ArgumentHelp("The jobs, by their numbers.", valueName: "id"))
  var ids: [JobID] = []

  @Option(help: ArgumentHelp("Every job of this batch.", valueName: "name"))
  var batch: String?

  @Flag(help: "Every job.")
  var all = false

  @Option(help: ArgumentHelp("Wait no longer than this; the jobs go on.", valueName: "time"))
  var timeout: TimeSpan?

  func validate() throws {
    if try target() == nil { throw ValidationError("Name the jobs: ids, --batch or --all.") }
  }

  func run() async throws {
    guard let target = try target() else { throw CommandFailure(.usage, "no jobs are named") }
    let connection = try daemon.connection(of: owner)
    let end = try await Waiter(target, connection: connection)
      .run(from: try await connection.open(), timeout: timeout?.duration)
    if end != .done { throw CommandFailure(end) }
  }

  private func target() throws -> WaitTarget? { try WaitTarget(ids: ids, batch: batch, all: all) }
}

struct Watch: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Show how jobs go on until they have ended, whatever their end.")

  @OptionGroup var daemon: ConnectionOptions
  @OptionGroup var owner: OwnerOptions

  @Argument(help: ArgumentHelp("The jobs, by their numbers; all otherwise.", valueName: "id"))
  var ids: [JobID] = []

  @Option(help: ArgumentHelp("Every job of this batch.", valueName: "name"))
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
  /// `nil` where nothing is named.
  fileprivate init?(ids: [JobID], batch: String?, all: Bool) throws {
    switch try SelectorOptions.single(ids: ids, batch: batch, all: all) {
    case .ids(let ids): self = .ids(ids)
    case .batch(let name): self = .batch(name)
    case .all: self = .all
    case .state, nil: return nil
    }
  }
}
