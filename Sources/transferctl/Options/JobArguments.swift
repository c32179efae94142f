import ArgumentParser
import TransferAPI

/// The options that downloads and uploads share.
struct JobArguments: ParsableArguments {
  @Option(
    help: ArgumentHelp(
      "A header to send, \"Name: value\", or @FILE with one header per line (@- is standard input); repeatable.",
      valueName: "header"))
  var header: [String] = []

  @Option(
    help: ArgumentHelp("Read headers, one per line, from this open file descriptor.", valueName: "n"))
  var headerFd: [Int32] = []

  @Option(
    help: ArgumentHelp(
      "A header whose value is read at each attempt: \"Name: [word] env:NAME|file:PATH|exec:COMMAND\".",
      valueName: "header"))
  var secretHeader: [String] = []

  @Option(
    help: ArgumentHelp(
      "The source of user name and password, read at each attempt: netrc, env:NAME, file:PATH or exec:COMMAND.",
      valueName: "reference"))
  var credentials: String?

  @Option(help: ArgumentHelp("Add the jobs to this batch.", valueName: "name"))
  var batch: String?

  @Option(
    parsing: .unconditional,
    help: ArgumentHelp("Jobs with a higher priority start first.", valueName: "n"))
  var priority = 0

  @Flag(help: "Add the jobs paused; resume starts them.")
  var paused = false

  @Option(
    help: ArgumentHelp("The limit per job in bytes per second, with K, M or G.", valueName: "rate"),
    transform: { try ByteRate(parsing: $0) })
  var limitRate: ByteRate?

  @Option(
    parsing: .unconditional,
    help: ArgumentHelp("Fail after this many consecutive retries without progress.", valueName: "n"))
  var retries: Int?

  @Option(
    help: ArgumentHelp("The time limit for connecting: 30, 30s, 5m.", valueName: "time"),
    transform: { try TimeSpan(parsing: $0) })
  var connectTimeout: TimeSpan?

  @Option(
    help: ArgumentHelp("Start a new attempt after this time without a byte.", valueName: "time"),
    transform: { try TimeSpan(parsing: $0) })
  var stallTimeout: TimeSpan?

  @Option(help: ArgumentHelp("The User-Agent to send, in place of transferd's own.", valueName: "text"))
  var userAgent: String?

  @Option(help: ArgumentHelp("The Referer to send.", valueName: "url"))
  var referer: String?

  @Option(help: ArgumentHelp("Do not begin before this time: RFC 3339, 22:00 or +2h.", valueName: "time"))
  var notBefore: String?

  @Option(help: ArgumentHelp("Fail if the job has not ended by this time; its bytes are kept.", valueName: "time"))
  var deadline: String?

  @Option(
    help: ArgumentHelp("Try again for this time after a failure, however often.", valueName: "time"),
    transform: { try TimeSpan(parsing: $0) })
  var retryFor: TimeSpan?

  @Option(
    help: ArgumentHelp(
      "Run only between these times of the day, in the daemon's time zone: 22:00-06:00.", valueName: "hh:mm-hh:mm"))
  var window: String?

  @Option(
    help: ArgumentHelp(
      "Begin when this job, or all jobs of this batch, have completed; repeatable.", valueName: "id|batch:name"))
  var after: [String] = []

  func validate() throws {
    if let batch, batch.isEmpty { throw ValidationError("--batch is empty.") }
    if let retries, !(0...1_000_000).contains(retries) {
      throw ValidationError("--retries is a number from 0 to 1000000.")
    }
    for text in header where text == "@" { throw ValidationError("--header \(text) names no file.") }
    for number in headerFd where number < 0 || number == 1 || number == 2 {
      throw ValidationError("--header-fd \(number) cannot be read: name an open descriptor for input.")
    }
    guard Set(headerSources).count == headerSources.count, headerSources.count(where: \.isStandardInput) <= 1 else {
      throw ValidationError("The same file or descriptor of headers is given twice.")
    }
  }

  private var headerSources: [HeaderSource] {
    header.filter { $0.hasPrefix("@") }.map { .file(String($0.dropFirst())) } + headerFd.map { .descriptor($0) }
  }

  /// Whether standard input holds headers, and so cannot be used for anything else.
  var readsStandardInput: Bool { headerSources.contains(where: \.isStandardInput) }

  /// A job that has only these options and those of the network set.
  /// - Parameter readingSources: whether headers are read from files and descriptors.
  func template(_ network: NetworkArguments, _ paths: PathResolver, readingSources: Bool = true) throws -> NewJob {
    var job = NewJob(source: "")
    job.batch = batch
    job.priority = priority
    job.paused = paused
    job.options = try options(readingSources: readingSources)
    job.options.network = try network.options(paths)
    try validated { try job.options.check() }
    try validated { try job.checkDependencies() }
    return job
  }

  private func options(readingSources: Bool) throws -> JobOptions {
    var options = JobOptions()
    options.limitRate = limitRate?.bytesPerSecond
    options.maxAttempts = retries.map { $0 + 1 }
    options.connectTimeout = connectTimeout?.seconds
    options.stallTimeout = stallTimeout?.seconds
    options.userAgent = userAgent
    options.referer = referer
    options.schedule.notBefore = try notBefore.map { text in
      try validated(about: "notBefore") { try StartTime.date(text) }
    }
    options.schedule.deadline = try deadline.map { text in
      try validated(about: "deadline") { try StartTime.date(text) }
    }
    options.schedule.retryFor = retryFor?.seconds
    options.schedule.window = try window.map { text in
      try validated(about: "window") { try DailyWindow(parsing: text) }
    }
    options.schedule.after = try after.map { text in
      try validated(about: "after") { try JobDependency(parsing: text) }
    }
    options.credentials = try credentials.map { text in
      try validated(about: "credentials") { try SecretReference(parsing: text) }
    }
    try addHeaders(to: &options, readingSources: readingSources)
    return options
  }

  private func addHeaders(to options: inout JobOptions, readingSources: Bool) throws {
    var names: Set<String> = []
    for source in readingSources ? headerSources : [] {
      for (name, value) in try source.headers() {
        try Self.once(name, &names)
        options.headers[name] = value
      }
    }
    for text in header where !text.hasPrefix("@") {
      let (name, value) = try validated(about: "headers") { try Syntax.header(text, orFile: true) }
      try Self.once(name, &names)
      options.headers[name] = value
    }
    for text in secretHeader {
      let (name, value) = try validated(about: "secretHeaders") { try Syntax.header(text) }
      try Self.once(name, &names)
      options.secretHeaders[name] = try validated(about: "secretHeaders") { try SecretHeader(parsing: value) }
    }
  }

  private static func once(_ name: String, _ names: inout Set<String>) throws {
    guard names.insert(name.lowercased()).inserted else { throw ValidationError("The header \(name) is given twice.") }
  }
}
