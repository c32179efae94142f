import FoundationEssentials
import Glibc
import Testing
import TransferAPI

@testable import transferctl

@Suite struct JobListTests {
  /// What `status` prints for these jobs, which arrive in pieces of this size.
  private func printed(_ jobs: [Job], _ format: Status.Format, pieces size: Int, wanted: [JobID]? = nil) throws
    -> String
  {
    let folder = try TemporaryFolder()
    let path = folder.path + "/out"
    let descriptor = open(path, O_RDWR | O_CREAT, 0o600)
    defer { close(descriptor) }
    var text = JSONText()
    for job in jobs { try JobLine().write(job, to: &text) }
    var list = JobList(format, Output(descriptor: descriptor), wanted: wanted)
    for start in stride(from: 0, to: text.bytes.count, by: size) {
      try list.write(Data(text.bytes[start..<min(start + size, text.bytes.count)]))
    }
    try list.finish()
    #expect(list.count == jobs.count)
    return try String(contentsOfFile: path, encoding: .utf8)
  }

  private var jobs: [Job] {
    let error = JobFailure(code: .http(404), message: "no \"file\"", httpStatus: 404, transient: false)
    return [
      sampleJob(1, .completed, done: 5, total: 5), sampleJob(2, .failed, error: error),
      sampleJob(12, .queued, destination: "/data/\"é\n"),
    ]
  }

  @Test("the formats are the same wherever the pieces end", arguments: [1, 7, 100, 100_000])
  func formats(_ size: Int) throws {
    for wanted in [nil, jobs.map(\.id)] {
      let lines = try jobs.map { try json($0) }
      #expect(try printed(jobs, .jsonl, pieces: size, wanted: wanted) == lines.map { $0 + "\n" }.joined())
      #expect(
        try printed(jobs, .json, pieces: size, wanted: wanted) == "[\n" + lines.joined(separator: ",\n") + "\n]\n")
      #expect(try printed(jobs, .name, pieces: size, wanted: wanted) == "1\n2\n12\n")
      #expect(try printed([], .json, pieces: size, wanted: wanted) == "[]\n")
    }
    let table = try printed(jobs, .table, pieces: size).split(separator: "\n")
    #expect(table.count == 4 && table[2].contains("failed") && table[3].hasSuffix("\"é\\n"))
  }

  @Test("on a terminal all jobs are shown if they are few, else those that run, failed or come next")
  func selection() {
    var counts = StateCounts()
    (counts.running, counts.failed, counts.queued, counts.completed) = (3, 150, 60, 10_000)
    var query = JobQuery(batch: "b")
    let many = TerminalSelection(query, counts)
    #expect(many.total == 10_213)
    #expect(many.queries.map(\.state) == [.running, .failed, .queued])
    #expect(many.queries.map(\.limit) == [3, 150, 47])
    #expect(many.queries.allSatisfy { $0.batch == "b" })
    query.limit = 2
    #expect(TerminalSelection(query, counts).queries.map(\.limit) == [2])
    query.limit = nil
    query.state = .completed
    #expect(TerminalSelection(query, counts).queries.map(\.limit) == [200])
    query.state = nil
    query.order = .newest
    #expect(TerminalSelection(query, counts).queries == [JobQuery(batch: "b", order: .newest, limit: 200)])
    counts.completed = 0
    counts.failed = 1
    query.order = nil
    #expect(TerminalSelection(query, counts).queries == [JobQuery(batch: "b", limit: 200)])
  }
}
