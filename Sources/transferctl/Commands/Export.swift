import ArgumentParser
import FoundationEssentials
import TransferAPI

struct Export: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Print jobs as lines of JSON that import reads; all of them unless some are named.",
    discussion: "Secrets are left out: user names and passwords of URLs, and headers that hold them.")

  @OptionGroup var daemon: ConnectionOptions
  @OptionGroup var owner: OwnerOptions

  @Argument(help: ArgumentHelp("Only these jobs.", valueName: "id"))
  var ids: [JobID] = []

  @Option(help: ArgumentHelp("Only jobs of this batch.", valueName: "name"))
  var batch: String?

  @Flag(help: "Every job.")
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
      try await client.lines("GET", ControlClient.path("/v1/export", piece.items)) { line in
        notes.read(line)
        try Output.standard.line(String(decoding: line, as: UTF8.self))
      } afterChunk: {
        try Output.standard.flush()
      }
    }
    if let text = notes.text { Notice.say(text) }
  }

  /// What the lines say that they lack.
  private struct Notes {
    private var jobs = 0
    private var omitted: Set<String> = []
    private let decoder = WireCoding.decoder()

    private struct Line: Decodable { var omitted: [String]? }

    mutating func read(_ line: Data) {
      // Most lines lack nothing, and are not read for it.
      guard line.firstRange(of: Data(#""omitted":"#.utf8)) != nil,
        let names = try? decoder.decode(Line.self, from: line).omitted
      else { return }
      jobs += 1
      omitted.formUnion(names)
    }

    var text: String? {
      guard jobs > 0 else { return nil }
      let what = omitted.sorted().joined(separator: ", ")
      return
        "left out of \(HumanNumbers.jobs(jobs)), as secrets are: \(what). After an import they have to be given again"
    }
  }
}
