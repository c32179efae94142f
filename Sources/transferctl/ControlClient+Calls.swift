import FoundationEssentials
import TransferAPI
import WireValues

extension ControlClient {
  func stats() async throws -> Stats { try await get("/v1/stats") }

  func job(_ id: JobID) async throws -> JobDetail { try await get("/v1/jobs/\(id)") }

  func batch(_ name: String) async throws -> BatchDetail {
    try await get("/v1/batches/\(Self.escaped(name))")
  }

  func change(batch name: String, _ change: BatchChange) async throws -> BatchDetail {
    try await patch("/v1/batches/\(Self.escaped(name))", change)
  }

  func limits() async throws -> DaemonLimits { try await get("/v1/limits") }

  func change(_ change: DaemonLimitChange) async throws -> DaemonLimits { try await patch("/v1/limits", change) }

  /// Calls `each` with the pieces of a list of jobs as they arrive: lines of JSON, each with its newline. A piece may end inside
  /// a line.
  nonisolated(nonsending) func jobLines(_ query: JobQuery, each: (Data) async throws -> Void) async throws {
    let chunks = try await open(
      "GET", Self.path("/v1/jobs", query.items), headers: ["Accept": "application/x-ndjson"])
    for try await chunk in chunks { try await each(chunk) }
  }

  /// Reads a line of a list of jobs.
  static func job(from line: Data) throws -> Job { try JobLine().read(line) ?? decode(from: line) }

  /// Calls `each` with each page of jobs, in the order of the ids.
  nonisolated(nonsending) func pages(_ query: JobQuery, each: ([Job]) async throws -> Void) async throws {
    for piece in query.pieces {
      var after: JobID?
      repeat {
        var items = piece.items + [("limit", "500")]
        if let after { items.append(("after", after.description)) }
        let page: JobPage = try await get(Self.path("/v1/jobs", items))
        try await each(page.jobs)
        // A page that does not advance would be requested for ever.
        after = page.next.flatMap { next in after.map { next > $0 } ?? true ? next : nil }
      } while after != nil
    }
  }

  func jobs(_ query: JobQuery) async throws -> [Job] {
    var jobs: [Job] = []
    try await pages(query) { jobs += $0 }
    return jobs
  }

  /// More ids than one request may have are sent in several.
  func apply(_ verb: JobVerb, to selector: JobSelector) async throws -> VerbOutcome {
    let path = "/v1/jobs:\(verb.rawValue)"
    guard case .ids(let ids) = selector, ids.count > JobSelector.maximumIDs else {
      return try await post(path, selector)
    }
    var outcome = VerbOutcome(changed: 0, skipped: 0)
    var rest = ids[...]
    while !rest.isEmpty {
      let part = rest.prefix(JobSelector.maximumIDs)
      rest = rest.dropFirst(part.count)
      outcome.add(try await post(path, JobSelector.ids(Array(part))))
    }
    return outcome
  }

  func change(_ id: JobID, _ change: JobChange) async throws -> ChangedJob {
    try await patch("/v1/jobs/\(id)", change)
  }

  static func path(_ path: String, _ items: [(String, String)]) -> String {
    guard !items.isEmpty else { return path }
    return path + "?" + items.map { "\($0)=\(escaped($1))" }.joined(separator: "&")
  }

  /// Percent-encodes everything except unreserved characters and the comma between ids.
  static func escaped(_ text: String) -> String {
    text.percentEncoded { $0.isUnreserved || $0 == UInt8(ascii: ",") }
  }
}
