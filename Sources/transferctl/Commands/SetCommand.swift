import ArgumentParser
import TransferAPI

struct SetCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "set", abstract: "Change the priority, rate limit or URL of jobs.")

  @OptionGroup var daemon: ConnectionOptions

  @Argument(help: ArgumentHelp("The ids of the jobs.", valueName: "id"))
  var ids: [JobID]

  @Option(parsing: .unconditional, help: ArgumentHelp("Jobs with a higher priority start first.", valueName: "n"))
  var priority: Int?

  @Option(help: ArgumentHelp("The limit in bytes per second, with K, M or G; off removes it.", valueName: "rate"))
  var limitRate: String?

  @Option(
    help: ArgumentHelp(
      "The file's new URL, or @FILE with the URL in it (@- is standard input); the bytes on disk are kept.",
      valueName: "url"))
  var url: String?

  func validate() throws { _ = try change(readingFile: false) }

  func run() async throws {
    let change = try change(readingFile: true)
    let client = try await daemon.open()
    var failure: ExitStatus?
    var changed = 0
    for id in SelectorOptions.unique(ids) {
      do {
        let response = try await client.change(id, change)
        changed += 1
        if !response.droppedHeaders.isEmpty {
          let names = response.droppedHeaders.joined(separator: ", ")
          Notice.say("job \(id): dropped the headers \(names), which were given for another server")
        }
        if response.droppedCredentials {
          Notice.say(
            "job \(id): dropped the user name and password or the certificate, which were given for another server")
        }
      } catch let problem as Problem {
        Notice.say(VerbRun.words(problem, about: id))
        if failure == nil { failure = ExitStatus(problem.code) }
      }
    }
    if changed > 0 { Notice.say("changed \(HumanNumbers.jobs(changed))") }
    if let failure { throw CommandFailure(failure) }
  }

  /// - Parameter readingFile: whether to read the URL from its file. A check of the arguments does not.
  private func change(readingFile: Bool) throws -> JobChange {
    guard priority != nil || limitRate != nil || url != nil else {
      throw ValidationError("Name what to change: --priority, --limit-rate or --url.")
    }
    var url = url
    if let text = url {
      guard ids.count == 1 else { throw ValidationError("--url is for one job.") }
      if text.hasPrefix("@") { url = readingFile ? try Self.line(of: String(text.dropFirst())) : nil }
      if let url { try validated { try Syntax.check(url: url) } }
    }
    var rate: Int64?
    if let limitRate {
      // 0 is the word of the API for no limit.
      rate = try limitRate == "0" ? 0 : LimitText.rate(limitRate, "--limit-rate") ?? 0
    }
    return JobChange(priority: priority, limitRate: rate, url: url)
  }

  /// The only line of a file: a URL with secrets in its query need not appear on the command line.
  private static func line(of path: String) throws -> String {
    let name = path == "-" ? "standard input" : path
    let lines = try InputFile.read(path).split { $0 == 10 || $0 == 13 }
    guard lines.count == 1, let url = String(validating: lines[0], as: UTF8.self) else {
      throw CommandFailure(.usage, "cannot read a URL from \(name): it must contain exactly one line")
    }
    return url
  }
}
