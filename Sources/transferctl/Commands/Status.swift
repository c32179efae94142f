import ArgumentParser
import FoundationEssentials
import TransferAPI

struct Status: AsyncParsableCommand {
  static let configuration = CommandConfiguration(abstract: "List jobs.", aliases: ["ls"])

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

  @Option(help: "How to write them: for people, as JSON, or ids only.")
  var format = Format.table

  @Flag(help: "Show the table anew when something changes, until interrupted.")
  var watch = false

  func validate() throws {
    if batch?.isEmpty == true { throw ValidationError("--batch is empty.") }
    if watch, format != .table, format != .wide {
      throw ValidationError("--watch is for the formats table and wide; for scripts see events --follow.")
    }
  }

  func run() async throws {
    let connection = try daemon.connection(of: owner)
    let client = try await connection.open()
    let query = JobQuery(
      ids: ids.isEmpty ? nil : SelectorOptions.unique(ids).sorted(), batch: batch, state: state)
    if watch {
      return try await StatusWatch(connection, query, isWide: format == .wide).run(from: client)
    }
    var list = JobList(format, .standard)
    var missing = Set(ids)
    try await client.pages(query) { jobs in
      missing.subtract(jobs.map(\.id))
      try list.write(jobs)
    }
    try list.finish()
    if list.isEmpty, let batch { _ = try await client.batch(batch) }
    try await Self.requireExisting(missing, client, isNarrowed: batch != nil || state != nil)
    if list.isEmpty, format == .table || format == .wide { Notice.say("no jobs") }
  }

  /// An id that another filter left out exists all the same.
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

/// Writes jobs page by page.
struct JobList {
  private let format: Status.Format
  private let output: Output
  private let encoder = WireCoding.encoder()
  private var table: JobTable
  private(set) var isEmpty = true

  init(_ format: Status.Format, _ output: Output) {
    self.format = format
    self.output = output
    table = JobTable(isWide: format == .wide, Paint(.output))
  }

  mutating func write(_ jobs: [Job]) throws {
    guard !jobs.isEmpty else { return }
    switch format {
    case .table, .wide: for line in table.lines(jobs) { try output.line(line) }
    case .name: for job in jobs { try output.line(job.id.description) }
    case .jsonl: for job in jobs { try output.line(try json(job)) }
    case .json:
      for (index, job) in jobs.enumerated() {
        try output.write((isEmpty && index == 0 ? "[\n" : ",\n") + (try json(job)))
      }
    }
    isEmpty = false
    try output.flush()
  }

  func finish() throws {
    if format == .json { try output.line(isEmpty ? "[]" : "\n]") }
    try output.flush()
  }

  private func json(_ job: Job) throws -> String { String(decoding: try encoder.encode(job), as: UTF8.self) }
}
