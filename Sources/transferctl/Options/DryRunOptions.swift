import ArgumentParser

/// `--dry-run` of `add` and `upload`.
struct DryRunOptions: ParsableArguments {
  enum Format: String, ExpressibleByArgument, CaseIterable {
    case text, jsonl
  }

  @Flag(help: "Print what would be added, and add nothing.")
  var dryRun = false

  @Option(help: "With --dry-run: sources and destinations as text, or the lines of JSON that -i or --manifest reads.")
  var format: Format?

  func validate() throws {
    if format != nil, !dryRun { throw ValidationError("--format needs --dry-run.") }
  }

  /// Lines that are printed in place of being sent.
  func lines() -> JobLines { JobLines(format == .jsonl ? .json : .table, namesFiles: true) }

  /// Prints the jobs that the lines describe.
  /// - Throws: `CommandFailure` if the lines have a fault, as the real call would.
  func print(_ lines: JobLines) throws {
    try lines.requireFaultless()
    guard lines.count > 0 else { return Notice.say("nothing to add") }
    try Output.standard.requireOpen()
    let next = lines.spool.pieces()
    while let piece = try next() { try Output.standard.write(piece) }
    if let fault = lines.faults.first { throw CommandFailure(fault.status) }
  }
}
