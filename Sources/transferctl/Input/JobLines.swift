import FoundationEssentials
import TransferAPI
import WireValues

/// The body of `POST /v1/jobs` or `POST /v1/jobs:batch`, built from arguments and files, and the origin of each of its lines.
/// Every line is checked before anything is sent; all faults are kept, not only the first.
struct JobLines: Sendable {
  /// The argument or line that described a job.
  enum Origin: Equatable, Sendable, CustomStringConvertible {
    case argument(String)
    case line(Int)
    /// An item of a list with NUL separators.
    case item(Int)
    case path(String)

    var description: String {
      switch self {
      case .argument(let url): Secrets.redacting(url: url)
      case .line(let number): "line \(number)"
      case .item(let number): "item \(number)"
      case .path(let path): path
      }
    }
  }

  struct Fault: Equatable, Sendable {
    let origin: Origin
    let message: String
    let status: ExitStatus
    /// Whether only this file cannot be read: the others are still added.
    var isOfFile = false
  }

  enum Form: Sendable {
    /// NDJSON of `NewJob`.
    case json
    /// The paths of uploads, each ended by NUL. All jobs have the same options, which are sent beside them.
    case paths
    /// The URLs of downloads, one per line. All jobs have the same options, which are sent beside them.
    case urls
    /// For people: sources and destinations, separated by a TAB, without secrets.
    case table
  }

  let form: Form
  /// The lines in memory, or in a temporary file if there are many.
  let spool = BodySpool()
  private var origin = OriginMap()
  /// Whether every job has a key: then the body may be sent again without adding a job twice.
  private(set) var areKeyed = true
  private(set) var faults: [Fault] = []
  /// Exported jobs that were completed, failed or cancelled.
  private(set) var skippedFinal = 0
  /// The number of URLs that globs have named.
  var globbed = 0
  let encoder = WireCoding.encoder()
  private let decoder = WireCoding.decoder()
  private var check = URLCheck()
  /// Whether a job names its file where the daemon would derive the name from the URL.
  private let namesFiles: Bool
  /// What the fields of the lines that a list has are called.
  var naming = FieldNaming.options

  init(_ form: Form = .json, namesFiles: Bool = false) {
    self.form = form
    self.namesFiles = namesFiles
  }

  /// The number of the job that is added next, from 1. Jobs that cannot be added count, too.
  var nextNumber: Int { origin.count.saturatingSum(faults.count).saturatingSum(1) }

  var count: Int { origin.count }
  /// Where each line comes from.
  var origins: [Origin] { origin.all }

  /// - Parameter line: of the body, from 1.
  func origin(ofLine line: Int) -> Origin? { origin.origin(ofLine: line) }

  /// Adds a URL that is complete except for `--base`.
  mutating func take(url: String, _ origin: Origin, _ defaults: JobDefaults) {
    guard form == .urls else {
      let number = nextNumber
      return take(origin) { _ in try defaults.job(url: url, number: number) }
    }
    // A list of URLs is long and needs no jobs here.
    let bytes = Array(defaults.resolved(url).utf8)
    if let fault = bytes.withUnsafeBytes({ check.fault(in: $0) }) {
      return faults.append(Fault(origin: origin, message: fault, status: .usage))
    }
    do {
      try spool.append(bytes + [UInt8(ascii: "\n")])
      self.origin.append(origin)
      areKeyed = false
    } catch {
      let failure = CommandFailure(error)
      faults.append(Fault(origin: origin, message: failure?.message ?? "\(error)", status: failure?.status ?? .failed))
    }
  }

  /// Adds lines that are `ExportedJob` or `NewJob` objects. Exported jobs in a final state are counted and left out.
  /// - Throws: `CommandFailure` for a file that cannot be read.
  mutating func add(exported file: ListFile, _ defaults: JobDefaults) throws {
    let naming = FieldNaming(.json)
    self.naming = naming
    try InputLines.each(in: file) { number, line in
      take(.line(number)) { decoder in
        let json = Data(try line.get().utf8)
        let names = try WireCoding.decode(FieldNames.self, from: json, with: decoder).names
        guard names.contains("request") else {
          return try Self.whole(try defaults.job(json: json, decoder: decoder, naming: naming))
        }
        let exported = try decoder.decode(ExportedJob.self, from: json)
        guard !exported.state.isFinal else { return nil }
        var request = try Self.whole(exported.request)
        request.paused = exported.state == .paused
        let given = try decoder.decode(RequestNames.self, from: json).request.names.union(["paused"])
        return try defaults.completed(request, given: given)
      }
    }
  }

  /// - Throws: `WireError` for a job whose URL lacks the secrets that the export left out.
  private static func whole(_ job: NewJob) throws -> NewJob {
    guard !Secrets.isRedacted(url: job.source), !Secrets.isRedacted(url: job.destination ?? "") else {
      throw WireError(
        "cannot import a URL without its secrets, which the export left out; replace *** by them and import again")
    }
    // Ids are those of the daemon that exported the job, and the jobs get new ones.
    for case .job(let id) in job.options.schedule.after {
      throw WireError(
        "cannot import a job that waits for job \(id): ids change; name a batch in \"after\", or leave it out")
    }
    guard !job.options.areRedacted else {
      throw WireError("secrets were left out of the export; put them in the place of *** and import again")
    }
    return job
  }

  /// Adds a fault without a job.
  mutating func add(fault: Fault) { faults.append(fault) }

  /// - Parameter make: returns `nil` for a job that is to be left out.
  mutating func take(_ origin: Origin, _ make: (JSONDecoder) throws -> NewJob?) {
    do {
      guard let job = try make(decoder) else {
        skippedFinal += 1
        return
      }
      try spool.append(try line(of: namesFiles ? job.namingFile : job))
      self.origin.append(origin)
      if job.key == nil { areKeyed = false }
    } catch {
      let failure = failure(error, in: origin)
      faults.append(
        Fault(
          origin: origin, message: failure.message ?? "cannot be read", status: failure.status,
          isOfFile: error is FileFault))
    }
  }
}

extension JobLines {
  /// What is reported for an error. One that names fields names them as the list does.
  private func failure(_ error: any Error, in origin: Origin) -> CommandFailure {
    if !(error is WireError), let failure = CommandFailure(error) { return failure }
    let naming = origin.isLine ? naming : .options
    return CommandFailure(.usage, WireCoding.explanation(of: error).named { naming.name(of: $0) })
  }

  private func line(of job: NewJob) throws -> [UInt8] {
    switch form {
    case .json: try encoder.encode(job) + [UInt8(ascii: "\n")]
    case .paths: Array(job.source.utf8) + [0]
    case .urls: Array(job.source.utf8) + [UInt8(ascii: "\n")]
    case .table: Array("\(job.shownSource)\t\(job.shownDestination)\n".utf8)
    }
  }
}

/// The names of the fields in an exported job's request.
private struct RequestNames: Decodable {
  let request: FieldNames
}
