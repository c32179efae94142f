import ArgumentParser
import TransferAPI
import WireValues

/// The options of `add` that say what its arguments and lists mean.
struct InputArguments: ParsableArguments {
  @Option(help: "The format of -i: URLs, lines of JSON, an aria2 input file, or CSV with a header.")
  var inputFormat = InputFormat.auto

  @Flag(help: "URLs contain ranges and lists: [001-100], [0-100:10], [a-z], {a,b}.")
  var glob = false

  @Option(help: ArgumentHelp("The URL at which relative URLs begin.", valueName: "url"))
  var base: String?

  @Option(
    help: ArgumentHelp(
      "Each file must have the digest that this file or URL lists: SHA256SUMS, SHA512SUMS, SHA1SUMS, MD5SUMS.",
      valueName: "file|url"),
    completion: .file())
  var checksums: String?

  @Option(
    help: ArgumentHelp(
      "Add the files that this Metalink names (RFC 5854), each with its mirrors and digests.", valueName: "file|url"),
    completion: .file())
  var metalink: String?

  func validate() throws {
    if let base { try validated(about: "--base") { try Syntax.check(url: base) } }
    if let metalink {
      if metalink.isEmpty { throw ValidationError("--metalink is empty.") }
      if checksums != nil { throw ValidationError("--metalink has the digests of its files; leave out --checksums.") }
      if glob || base != nil { throw ValidationError("--metalink names whole URLs; leave out --glob and --base.") }
    }
    if let checksums, checksums.isEmpty { throw ValidationError("--checksums is empty.") }
  }

  /// Refuses what would have to be downloaded.
  func checkDryRun() throws {
    for (option, file) in [("--metalink", metalink), ("--checksums", checksums)] {
      guard let file, FetchedFile.isURL(file) else { continue }
      throw ValidationError(
        "--dry-run downloads nothing, so \(option) cannot be a URL: download the file and name it.")
    }
  }
}
