import FoundationEssentials
import TransferAPI
import WireValues

/// The text of `show` and `batch show`: aligned names and values.
enum DetailText {
  static func lines(_ detail: JobDetail) -> [String] {
    let job = detail.job
    var rows: [(String, String)] = [
      ("job", job.id.description), ("kind", job.kind.rawValue + (job.phase.map { " (\($0.rawValue))" } ?? "")),
      ("state", job.state.rawValue),
      ("source", job.source), ("destination", job.destination), ("done", progress(job)),
    ]
    append(&rows, "result", job.result?.rawValue)
    if job.state == .running {
      let eta = HumanNumbers.eta(done: job.bytesDone, total: job.bytesTotal, rate: job.bytesPerSecond)
      rows.append(("rate", "\(HumanNumbers.rate(job.bytesPerSecond)), \(eta) left"))
    }
    rows.append(("attempt", job.limitsAttempts ? "\(job.attempt) of \(job.maxAttempts)" : "\(job.attempt)"))
    append(&rows, "next attempt", job.retryAt.map(WireCoding.rfc3339))
    append(
      &rows, "waiting",
      job.waiting.map { waiting in
        "\(waiting.detail)" + (waiting.until.map { ", until \(WireCoding.rfc3339($0))" } ?? "")
          + " (\(waiting.reason.rawValue))"
      })
    append(
      &rows, "error",
      job.error.map { "\($0.message) (\($0.code)\($0.transient ? ", may pass" : ""))" })
    rows.append(("priority", String(job.priority)))
    append(&rows, "batch", job.batch)
    append(&rows, "key", job.key)
    append(&rows, "checksum", job.checksum)
    append(&rows, "file", job.action.map { "\($0.state.rawValue)" + ($0.message.map { ": \($0)" } ?? "") })
    appendOptions(&rows, detail)
    rows.append(("created", WireCoding.rfc3339(job.createdAt)))
    append(&rows, "started", job.startedAt.map(WireCoding.rfc3339))
    append(&rows, "finished", job.finishedAt.map(WireCoding.rfc3339))
    return aligned(rows) + sources(detail.sources) + attempts(detail.attempts, of: job.kind)
  }

  static func lines(_ detail: BatchDetail) -> [String] {
    let batch = detail.batch
    var rows = [
      ("batch", batch.name), ("created", WireCoding.rfc3339(batch.createdAt)),
      ("jobs", String(batch.counts.total)),
    ]
    append(&rows, "owner", batch.owner.map { "uid \($0)" })
    for state in JobState.allCases where batch.counts[state] > 0 {
      rows.append((state.rawValue, String(batch.counts[state])))
    }
    rows.append(
      ("done", "\(HumanNumbers.size(detail.bytesDone)) of \(HumanNumbers.size(detail.bytesTotal)) known"))
    if batch.counts.completed > 0 {
      let results = JobResult.allCases.map { "\(detail.results[$0]) \($0.rawValue)" }.joined(separator: ", ")
      rows.append(("results", results))
    }
    append(&rows, "max active", detail.maxActive.map(String.init))
    append(&rows, "rate limit", detail.limitRate.map(HumanNumbers.rate))
    append(&rows, "priority", detail.priority.map(String.init))
    for (code, count) in detail.failures.sorted(by: { ($1.value, $0.key) < ($0.value, $1.key) }) {
      rows.append(("failed: \(code)", String(count)))
    }
    return aligned(rows)
  }

  /// Lines of `name:  value` with aligned values.
  static func aligned(_ rows: [(String, String)]) -> [String] {
    let width = rows.map { $0.0.printable.columns + 1 }.max() ?? 0
    return rows.map { ($0.0.printable + ":").padded(to: width) + "  " + $0.1.printable }
  }

  private static func append(_ rows: inout [(String, String)], _ name: String, _ value: String?) {
    if let value { rows.append((name, value)) }
  }

  private static func appendOptions(_ rows: inout [(String, String)], _ detail: JobDetail) {
    let options = detail.options
    append(&rows, "owner", detail.owner.map { "uid \($0)" })
    var flags: [String] = []
    if options.download.replace { flags.append("replace") }
    if options.download.ifChanged { flags.append("only if changed") }
    if options.download.createDirectories { flags.append("create directories") }
    if options.download.nameFromResponse { flags.append("name from the response") }
    if options.download.remoteTime { flags.append("time of the server") }
    if !flags.isEmpty { rows.append(("options", flags.joined(separator: ", "))) }
    for glob in options.listing.include { rows.append(("include", glob)) }
    for glob in options.listing.exclude { rows.append(("exclude", glob)) }
    append(&rows, "max depth", options.listing.maxDepth.map { String($0) })
    append(&rows, "if it exists", options.download.ifExists?.rawValue)
    append(&rows, "mode", options.download.mode)
    append(&rows, "part files in", options.download.partDir)
    if detail.job.kind == .download, options.onSuccess != .keep {
      rows.append(("on success", options.onSuccess.description))
    }
    append(&rows, "largest size", options.download.maxSize.map { HumanNumbers.size($0) })
    append(&rows, "expected size", options.download.size.map { HumanNumbers.size($0) })
    append(&rows, "pieces", options.download.pieces?.description)
    if case .fixed(let count) = options.download.segments { rows.append(("segments", String(count))) }
    append(&rows, "new URL from", options.download.urlFrom?.description)
    append(&rows, "rate limit", options.limitRate.map(HumanNumbers.rate))
    append(&rows, "connect timeout", options.connectTimeout.map(seconds))
    append(&rows, "stall timeout", options.stallTimeout.map(seconds))
    append(&rows, "retry for", options.schedule.retryFor.map(seconds))
    if detail.job.kind == .upload || detail.job.kind == .relay { appendUpload(&rows, options, of: detail) }
    append(&rows, "endpoint", options.s3.endpoint)
    append(&rows, "profile", options.s3.profile)
    append(&rows, "region", options.s3.region)
    append(&rows, "waits for", detail.blockedBy.map { "job \($0), which uploads to the same URL" })
    for option in options.sharedTexts where !optionsInOtherWords.contains(option.name) {
      rows.append((words(option.name), option.text))
    }
    append(&rows, "credentials", options.credentials?.description)
    for (name, value) in options.secretHeaders.sorted(by: { $0.key < $1.key }) {
      rows.append(("header", "\(name): \(value)"))
    }
    if detail.hasCredentials { rows.append(("credentials", "in the URL (not shown)")) }
    for (name, value) in options.headers.sorted(by: { $0.key < $1.key }) {
      rows.append(("header", "\(name): \(value)"))
    }
    for name in detail.secretHeaders.sorted() { rows.append(("header", "\(name): (not shown)")) }
  }

  /// Options with a special line. Every other option gets a line with its name and value.
  private static let optionsInOtherWords: Set<String> = [
    "headers", "secretHeaders", "credentials", "limitRate", "maxAttempts", "connectTimeout", "stallTimeout",
    "retryFor", "onSuccess",
  ]

  /// `userAgent` as `user agent`.
  private static func words(_ name: String) -> String {
    String(name.flatMap { $0.isUppercase ? " \($0.lowercased())" : String($0) })
  }

  private static func appendUpload(_ rows: inout [(String, String)], _ options: JobOptions, of detail: JobDetail) {
    let upload = options.upload
    rows.append(("protocol", upload.uploadProtocol.rawValue))
    append(&rows, "method", upload.method?.rawValue)
    for field in upload.form { rows.append(("form", field.description)) }
    if detail.job.kind == .upload {
      let action = detail.isSpooled ? "delete (the copy of standard input)" : options.onSuccess.description
      rows.append(("on success", action))
      rows.append(("on change", upload.onChange.rawValue))
    }
    if upload.ifAbsent { rows.append(("if absent", "yes")) }
    if upload.verify { rows.append(("verify", "yes")) }
    if detail.job.kind == .relay {
      append(&rows, "target credentials", options.relay.targetCredentials?.description)
    }
  }

  private static func attempts(_ attempts: [Attempt], of kind: JobKind) -> [String] {
    guard !attempts.isEmpty else { return [] }
    var table = Table([
      .init(title: "ATTEMPT", alignment: .right), .init(title: "STARTED"),
      .init(title: "TOOK", alignment: .right),
      .init(title: "FROM", alignment: .right), .init(title: bytesTitle(kind), alignment: .right),
      .init(title: "STATUS", alignment: .right), .init(title: "PROTOCOL"), .init(title: "ADDRESS"),
      .init(title: "OUTCOME"),
    ])
    let rows = attempts.map { attempt in
      [
        String(attempt.number), WireCoding.rfc3339(attempt.startedAt),
        attempt.endedAt.map { seconds($0.timeIntervalSince(attempt.startedAt)) } ?? "-",
        HumanNumbers.size(attempt.resumedFrom), HumanNumbers.size(attempt.bytesReceived),
        attempt.httpStatus.map { String($0) } ?? "-", attempt.networkProtocol ?? "-",
        attempt.remoteAddress ?? "-",
        (attempt.outcome?.rawValue ?? "-") + (attempt.error.map { ": \($0.text)" } ?? ""),
      ]
    }
    return [""] + table.lines(rows)
  }

  private static func bytesTitle(_ kind: JobKind) -> String {
    switch kind {
    case .download, .listing: "RECEIVED"
    case .upload: "SENT"
    case .relay: "BYTES"
    }
  }

  private static func progress(_ job: Job) -> String {
    guard let total = job.bytesTotal, let percent = HumanNumbers.percent(done: job.bytesDone, total: total)
    else {
      return "\(HumanNumbers.size(job.bytesDone)) of an unknown size"
    }
    return "\(HumanNumbers.size(job.bytesDone)) of \(HumanNumbers.size(total)) (\(percent)%)"
  }

  /// A duration, with one decimal below a minute.
  private static func seconds(_ seconds: Double) -> String {
    guard seconds.isFinite, seconds >= 0, seconds < 1e12 else { return "-" }
    return seconds < 60
      ? HumanNumbers.oneDecimal(seconds) + "s"
      : HumanNumbers.duration(seconds: CheckedNumber(rounding: seconds).value ?? .max)
  }
}
