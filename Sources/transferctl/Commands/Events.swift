import ArgumentParser
import FoundationEssentials
import TransferAPI

struct Events: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "events", abstract: "Print the history of jobs: every change with its reason.")

  @OptionGroup var daemon: ConnectionOptions
  @OptionGroup var owner: OwnerOptions

  @Argument(help: ArgumentHelp("Only these jobs.", valueName: "id"))
  var ids: [JobID] = []

  @Flag(help: "Then print new events until interrupted.")
  var follow = false

  @Option(help: ArgumentHelp("Only events after this number.", valueName: "seq"))
  var since: Int64 = 0

  @Option(help: "The output format; json prints one object per line.")
  var format = DetailFormat.text

  private static let pageSize = 1000

  func validate() throws {
    if since < 0 { throw ValidationError("--since must be 0 or more.") }
  }

  func run() async throws {
    let connection = try daemon.connection(of: owner)
    let client = try await connection.open()
    let ids = self.ids.isEmpty ? nil : SelectorOptions.unique(self.ids)
    if let ids { try await Self.requireKnown(ids, client) }
    var last = try await history(of: ids, client)
    guard follow else { return }
    let wanted = ids.map { Set($0) }
    let feed = EventFeed(connection: connection, jobs: ids)
    try await feed.follow(from: client) { _ in
      last
    } handle: { item, _ in
      guard case .event(let event) = item, event.seq > last else { return true }
      last = event.seq
      guard wanted?.contains(event.job) ?? true else { return true }
      try write(event)
      try Output.standard.flush()
      return true
    }
  }

  /// Prints the stored events, page by page.
  /// - Returns: the number of the newest event.
  private func history(of ids: [JobID]?, _ client: ControlClient) async throws -> Int64 {
    var last = since
    // Long lists of ids are filtered here: events keep their order, and the request line stays short.
    let filter = ids.map { $0.count <= JobQuery.idsPerRequest ? $0 : [] } ?? []
    let wanted = ids.map { Set($0) }
    while true {
      var items = [("since", String(last)), ("limit", String(Self.pageSize)), ("follow", "false")]
      if !filter.isEmpty { items.append(("jobs", filter.map(\.description).joined(separator: ","))) }
      var count = 0
      try await client.lines("GET", ControlClient.path("/v1/events", items)) { line in
        let event: Event = try ControlClient.decode(from: line)
        count += 1
        last = max(last, event.seq)
        if wanted?.contains(event.job) ?? true { try write(event) }
      } afterChunk: {
        try Output.standard.flush()
      }
      if count < Self.pageSize { return last }
    }
  }

  private func write(_ event: Event) throws {
    try Output.standard.line(format == .json ? json(event) : EventText.line(event))
  }

  /// A removed job still has a history; a job without one never existed.
  private static func requireKnown(_ ids: [JobID], _ client: ControlClient) async throws {
    var missing = Set(ids)
    missing.subtract(try await client.jobs(JobQuery(ids: ids)).map(\.id))
    for id in missing.sorted() {
      var hasHistory = false
      let items = [("since", "0"), ("limit", "1"), ("follow", "false"), ("jobs", id.description)]
      try await client.lines("GET", ControlClient.path("/v1/events", items)) { _ in hasHistory = true }
      guard hasHistory else { throw CommandFailure(.notFound, "no job \(id)") }
    }
  }
}
