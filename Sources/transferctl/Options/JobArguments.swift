import ArgumentParser
import TransferAPI

/// The options that mean the same for downloads and uploads.
struct JobArguments: ParsableArguments {
  @Option(
    help: ArgumentHelp(
      "A header to send, \"Name: value\", or @FILE with one in each line (@- for standard input); may be repeated.",
      valueName: "header"))
  var header: [String] = []

  @Option(
    help: ArgumentHelp("Read headers, one in each line, from this open file descriptor.", valueName: "n"))
  var headerFd: [Int32] = []

  @Option(
    help: ArgumentHelp(
      "A header whose value is looked up at each try: \"Name: [word] env:NAME|file:PATH|exec:COMMAND\".",
      valueName: "header"))
  var secretHeader: [String] = []

  @Option(
    help: ArgumentHelp(
      "Where user name and password are looked up at each try: netrc, env:NAME, file:PATH or exec:COMMAND.",
      valueName: "reference"))
  var credentials: String?

  @Option(help: ArgumentHelp("Put the jobs into this batch.", valueName: "name"))
  var batch: String?

  @Option(
    parsing: .unconditional, help: ArgumentHelp("Higher ones go first; 0 otherwise.", valueName: "n"))
  var priority = 0

  @Flag(help: "Add without starting; resume starts.")
  var paused = false

  @Option(help: ArgumentHelp("Bytes a second, with K, M or G.", valueName: "rate"))
  var limitRate: ByteRate?

  @Option(
    parsing: .unconditional,
    help: ArgumentHelp("Give up after so many further tries without progress.", valueName: "n"))
  var retries: Int?

  @Option(help: ArgumentHelp("How long connecting may take: 30, 30s, 5m.", valueName: "time"))
  var connectTimeout: TimeSpan?

  @Option(help: ArgumentHelp("Try anew after so long without a byte.", valueName: "time"))
  var stallTimeout: TimeSpan?

  func validate() throws {
    if let batch, batch.isEmpty { throw ValidationError("--batch is empty.") }
    if let retries, !(0...1_000_000).contains(retries) {
      throw ValidationError("--retries is a number from 0 to 1000000.")
    }
    for text in header where text == "@" { throw ValidationError("--header \(text) names no file.") }
    for number in headerFd where number < 0 || number == 1 || number == 2 {
      throw ValidationError("--header-fd \(number) is no descriptor that headers could be read from.")
    }
    guard Set(headerSources).count == headerSources.count, headerSources.count(where: \.isStandardInput) <= 1 else {
      throw ValidationError("The same file or descriptor of headers is given twice.")
    }
    // Files and descriptors are read when the command runs: a pipe may take its time.
    _ = try validated { try template(PathResolver(), readingSources: false) }
  }

  private var headerSources: [HeaderSource] {
    header.filter { $0.hasPrefix("@") }.map { .file(String($0.dropFirst())) } + headerFd.map { .descriptor($0) }
  }

  /// Headers are read from standard input, which then is nothing else.
  var readsStandardInput: Bool { headerSources.contains(where: \.isStandardInput) }

  /// A job with nothing but these.
  /// - Parameter readingSources: whether headers are read from files and descriptors.
  func template(_ paths: PathResolver, readingSources: Bool = true) throws -> NewJob {
    var job = NewJob(source: "")
    var names: Set<String> = []
    for source in readingSources ? headerSources : [] {
      for (name, value) in try source.headers() {
        try Self.once(name, &names)
        job.headers[name] = value
      }
    }
    for text in header where !text.hasPrefix("@") {
      let (name, value) = try validated { try Syntax.header(text) }
      try Self.once(name, &names)
      job.headers[name] = value
    }
    for text in secretHeader {
      let (name, value) = try validated { try Syntax.header(text) }
      try Self.once(name, &names)
      job.secretHeaders[name] = try validated { try SecretHeader(parsing: value) }
    }
    job.credentials = try credentials.map { text in try validated { try SecretReference(parsing: text) } }
    job.batch = batch
    job.priority = priority
    job.paused = paused
    job.limitRate = limitRate?.bytesPerSecond
    job.maxAttempts = retries.map { $0 + 1 }
    job.connectTimeout = connectTimeout?.seconds
    job.stallTimeout = stallTimeout?.seconds
    return job
  }

  private static func once(_ name: String, _ names: inout Set<String>) throws {
    guard names.insert(name.lowercased()).inserted else { throw ValidationError("The header \(name) is given twice.") }
  }
}

extension NewJob {
  /// Takes from a template what is the same for both kinds of jobs.
  /// - Parameter isWanted: whether a field is to be taken; headers are joined name by name.
  mutating func fill(from template: NewJob, where isWanted: (String) -> Bool) {
    if isWanted("batch") { batch = template.batch }
    if isWanted("priority") { priority = template.priority }
    if isWanted("paused") { paused = template.paused }
    if isWanted("limitRate") { limitRate = template.limitRate }
    if isWanted("maxAttempts") { maxAttempts = template.maxAttempts }
    if isWanted("connectTimeout") { connectTimeout = template.connectTimeout }
    if isWanted("stallTimeout") { stallTimeout = template.stallTimeout }
    if isWanted("credentials") { credentials = template.credentials }
    let own = Set((Array(headers.keys) + Array(secretHeaders.keys)).map { $0.lowercased() })
    for (name, value) in template.headers where !own.contains(name.lowercased()) { headers[name] = value }
    for (name, value) in template.secretHeaders where !own.contains(name.lowercased()) { secretHeaders[name] = value }
  }
}
