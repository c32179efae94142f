import ArgumentParser
import TransferAPI

struct BatchCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "batch", abstract: "List batches, show one, or change its limits.",
    subcommands: [List.self, ShowBatch.self, SetBatch.self])

  struct List: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "ls", abstract: "List the batches with their counts.")

    @OptionGroup var daemon: ConnectionOptions
    @OptionGroup var owner: OwnerOptions

    @Option(help: "The output format.")
    var format = DetailFormat.text

    func run() async throws {
      let batches: [Batch] = try await daemon.connection(of: owner).open().get("/v1/batches")
      guard format == .text else { return try Output.standard.line(try json(batches)) }
      guard !batches.isEmpty else { return Notice.say("no batches") }
      // Names are unique for each owner: the column is shown if several owners have batches.
      let hasOwners = Set(batches.map(\.owner)).count > 1
      var table = Table(
        [.init(title: "NAME")] + (hasOwners ? [.init(title: "OWNER", alignment: .right)] : [])
          + [.init(title: "JOBS", alignment: .right)]
          + JobState.allCases.map { .init(title: $0.rawValue.uppercased(), alignment: .right) })
      let rows = batches.map { batch in
        [batch.name] + (hasOwners ? [batch.owner.map(String.init) ?? ""] : []) + [String(batch.counts.total)]
          + JobState.allCases.map { String(batch.counts[$0]) }
      }
      try Output.standard.lines(table.lines(rows, Paint(.output)))
    }
  }

  struct ShowBatch: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "show", abstract: "Show a batch: its counts, bytes and failures.")

    @OptionGroup var daemon: ConnectionOptions
    @OptionGroup var owner: OwnerOptions

    @Argument(help: ArgumentHelp("The batch.", valueName: "name"))
    var name: String

    @Option(help: "The output format.")
    var format = DetailFormat.text

    func validate() throws {
      if name.isEmpty { throw ValidationError("The batch's name is empty.") }
    }

    func run() async throws {
      let detail = try await daemon.connection(of: owner).open().batch(name)
      try format.print(detail) { DetailText.lines(detail) }
    }
  }
}
