import ArgumentParser
import FoundationEssentials
import TransferAPI

extension JobOrder: ExpressibleByArgument {}

struct Status: AsyncParsableCommand {
  static let configuration = CommandConfiguration(commandName: "status", abstract: "List jobs.", aliases: ["ls"])

  enum Format: String, ExpressibleByArgument, CaseIterable {
    case table, wide, json, jsonl, name
  }

  @OptionGroup var daemon: ConnectionOptions
  @OptionGroup var owner: OwnerOptions

  @Argument(help: ArgumentHelp("Only these jobs.", valueName: "id"))
  var ids: [JobID] = []

  @Option(help: ArgumentHelp("Only jobs of this batch.", valueName: "name"))
  var batch: String?

  @Option(help: ArgumentHelp("Only jobs in this state.", valueName: "state"))
  var state: JobState?

  @Option(help: "The output format.")
  var format = Format.table

  @Option(help: ArgumentHelp("At most this many jobs; on a terminal the default is 200.", valueName: "n"))
  var limit: Int?

  @Option(
    help: "The order of the jobs; the default is id, and on a terminal running, failed and next jobs first.")
  var order: JobOrder?

  @Flag(help: "Redraw the table after each change until interrupted.")
  var watch = false

  func validate() throws {
    if batch?.isEmpty == true { throw ValidationError("--batch is empty.") }
    if let limit, limit < 1 { throw ValidationError("--limit must be 1 or more.") }
    if !ids.isEmpty, let order, order != .id {
      throw ValidationError("--order is not for ids: they are listed in their order.")
    }
    if watch, order != nil || limit != nil { throw ValidationError("--watch shows as many jobs as fit, by id.") }
    if watch, format != .table, format != .wide {
      throw ValidationError("--watch needs the format table or wide; scripts use events --follow.")
    }
  }

  func run() async throws {
    let connection = try daemon.connection(of: owner)
    let client = try await connection.open()
    var query = JobQuery(
      ids: ids.isEmpty ? nil : SelectorOptions.unique(ids).sorted(), batch: batch, state: state)
    if watch {
      return try await StatusWatch(connection, query, isWide: format == .wide).run(from: client)
    }
    (query.order, query.limit) = (order, limit)
    var list = JobList(format, .standard, wanted: query.ids)
    let isShort = Terminal.output.isInteractive && query.ids == nil && (format == .table || format == .wide)
    let selection = isShort ? try await TerminalSelection(query, client) : TerminalSelection(queries: [query])
    for query in selection.queries { try await write(query, limit, &list, client) }
    try list.finish()
    if list.isEmpty, let batch { _ = try await client.batch(batch) }
    // With a limit, ids that were not listed may exist.
    let missing = list.missing ?? []
    try await Self.requireExisting(missing, client, isNarrowed: batch != nil || state != nil || limit != nil)
    if list.isEmpty, format == .table || format == .wide { Notice.say("no jobs") }
    if let total = selection.total, total > list.count {
      let hidden = total - list.count  // checked: total is above the count
      Notice.say("\(HumanNumbers.jobs(hidden)) more; use --limit to see them")
    }
  }

  /// Long lists of ids take several requests.
  private func write(_ query: JobQuery, _ limit: Int?, _ list: inout JobList, _ client: ControlClient) async throws {
    for var piece in query.pieces {
      if let limit, query.ids != nil {
        guard list.count < limit else { return }
        piece.limit = limit - list.count  // checked: the count is below the limit
      }
      try await client.jobLines(piece) { try list.write($0) }
    }
  }

  /// - Parameter isNarrowed: whether other filters may have left out jobs that exist.
  private static func requireExisting(
    _ ids: Set<JobID>, _ client: ControlClient, isNarrowed: Bool
  ) async throws {
    guard !ids.isEmpty else { return }
    var missing = ids
    if isNarrowed { missing.subtract(try await client.jobs(JobQuery(ids: ids.sorted())).map(\.id)) }
    guard !missing.isEmpty else { return }
    try Output.standard.flush()
    for id in missing.sorted() { Notice.say("no job \(id)") }
    throw CommandFailure(.notFound)
  }
}
