import ArgumentParser
import FoundationEssentials
import TransferAPI

struct Export: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "export",
    abstract: "Print all jobs, or the named ones, as lines of JSON for import.",
    discussion: "Secrets are left out: user names and passwords in URLs, and headers that contain secrets.")

  @OptionGroup var daemon: ConnectionOptions
  @OptionGroup var owner: OwnerOptions

  @Argument(help: ArgumentHelp("Only these jobs.", valueName: "id"))
  var ids: [JobID] = []

  @Option(help: ArgumentHelp("Only jobs of this batch.", valueName: "name"))
  var batch: String?

  @Flag(help: "All jobs.")
  var all = false

  func validate() throws { _ = try SelectorOptions.single(ids: ids, batch: batch, all: all) }

  func run() async throws {
    let client = try await daemon.connection(of: owner).open()
    var query = JobQuery()
    if !ids.isEmpty { query.ids = SelectorOptions.unique(ids) }
    if let batch {
      _ = try await client.batch(batch)
      query.batch = batch
    }
    if let ids = query.ids {
      let missing = Set(ids).subtracting(try await client.jobs(query).map(\.id))
      for id in missing.sorted() { Notice.say("no job \(id)") }
      guard missing.isEmpty else { throw CommandFailure(.notFound) }
    }
    var notes = Notes()
    for piece in query.pieces {
      let chunks = try await client.open("GET", ControlClient.path("/v1/export", piece.items))
      for try await chunk in chunks {
        notes.read(chunk)
        try Output.standard.write(chunk)
        try Output.standard.flush()
      }
    }
    if let text = notes.text { Notice.say(text) }
  }

  /// Collects the names of the secrets that were left out.
  private struct Notes {
    private var jobs = 0
    private var omitted: Set<String> = []
    private let decoder = WireCoding.decoder()
    /// The beginning of the current line. Of a line without omitted secrets, only the first byte is kept.
    private var line: [UInt8] = []
    private var isSkipping = false

    private struct Line: Decodable { var omitted: [String]? }

    /// Keys are sorted, so a line with omitted secrets begins with this key. Most lines have none and need not be
    /// decoded.
    private static let beginning = Array(#"{"omitted":"#.utf8)

    mutating func read(_ chunk: Data) {
      var rest = chunk[...]
      while !rest.isEmpty {
        let end = rest.firstIndex(of: UInt8(ascii: "\n"))
        if !isSkipping {
          line += rest[..<(end ?? rest.endIndex)]
          isSkipping = !line.starts(with: Self.beginning.prefix(line.count))
        }
        guard let end else { return }
        if !isSkipping, let names = try? decoder.decode(Line.self, from: Data(line)).omitted {
          jobs += 1
          omitted.formUnion(names)
        }
        line.removeAll(keepingCapacity: true)
        isSkipping = false
        rest = rest[(end + 1)...]  // checked: an index of the chunk
      }
    }

    var text: String? {
      guard jobs > 0 else { return nil }
      let what = omitted.sorted().joined(separator: ", ")
      return
        "left the secrets out of \(HumanNumbers.jobs(jobs)): \(what); give them again after an import"
    }
  }
}
