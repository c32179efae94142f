import ArgumentParser
import FoundationEssentials
import TransferAPI

/// Writes lines of JSON with jobs in one of the formats of `status`. JSON is passed on as it arrives; the tables read what they
/// show.
struct JobList {
  private let format: Status.Format
  private let output: Output
  private let decoder = WireCoding.decoder()
  private var table: JobTable
  private var splitter = LineSplitter()
  /// Whether the last byte ended a line.
  private var isAtLineStart = true
  /// The number of jobs.
  private(set) var count = 0
  /// The ids that were not found yet; `nil`: the list is not one of ids.
  private(set) var missing: Set<JobID>?

  var isEmpty: Bool { count == 0 }

  /// - Parameter wanted: the ids to look for; `nil`: any.
  init(_ format: Status.Format, _ output: Output, wanted: [JobID]? = nil) {
    self.format = format
    self.output = output
    missing = wanted.map { Set($0) }
    table = JobTable(isWide: format == .wide, Paint(.output))
  }

  /// - Parameter chunk: may end inside a line.
  mutating func write(_ chunk: Data) throws {
    switch format {
    case .jsonl where missing == nil:
      count += chunk.count { $0 == UInt8(ascii: "\n") }
      try output.write(chunk)
    case .json where missing == nil: try writeArray(chunk)
    default: try write(lines: splitter.push(chunk))
    }
    try output.flush()
  }

  func finish() throws {
    // A line that was not complete is an error of the connection, which was reported.
    if format == .json { try output.line(isEmpty ? "[]" : "\n]") }
    try output.flush()
  }

  /// `[`, the lines with commas between them, `]`.
  private mutating func writeArray(_ chunk: Data) throws {
    var rest = chunk[...]
    while !rest.isEmpty {
      if isAtLineStart {
        try output.write(isEmpty ? "[\n" : ",\n")
        count += 1
        isAtLineStart = false
      }
      guard let end = rest.firstIndex(of: UInt8(ascii: "\n")) else { return try output.write(rest) }
      try output.write(rest[..<end])
      isAtLineStart = true
      rest = rest[(end + 1)...]  // checked: an index of the chunk
    }
  }

  private mutating func write(lines: [Data]) throws {
    guard !lines.isEmpty else { return }
    var jobs: [Job] = []
    for line in lines {
      let job = try ControlClient.job(from: line)
      missing?.remove(job.id)
      switch format {
      case .table, .wide: jobs.append(job)
      case .name: try output.line(job.id.description)
      case .jsonl: try output.write(line + [UInt8(ascii: "\n")])
      case .json: try output.write(Data((isEmpty ? "[\n" : ",\n").utf8) + line)
      }
      count += 1
    }
    if !jobs.isEmpty { try output.lines(table.lines(jobs)) }
  }
}
