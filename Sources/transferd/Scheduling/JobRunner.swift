import FoundationEssentials
import HTTPTypes
import Store
import TransferAPI
import TransferEngine

/// Turns a claimed job into a request of the engine.
struct JobRunner: Sendable {
  let session: Session
  let store: Store
  let secrets: SecretResolver
  let stateDirectory: String
  var network = NetworkRules()
  /// Where jobs may read and write, and whose credentials they may use.
  let paths: PathPolicy
  var spools: SpoolDirectory { SpoolDirectory(stateDirectory: stateDirectory) }

  /// How long to wait for a connection, and for progress, where the job does not say.
  struct Timeouts: Equatable, Sendable {
    var connect = Duration.seconds(30)
    var stall = Duration.seconds(30)
  }

  /// The request for one attempt; not started yet.
  /// - Throws: where the stored job cannot be read as one (a newer release's scheme, say).
  func request(
    for record: JobRecord, timeouts: Timeouts, didFinishTransfer: @escaping @Sendable () async -> Void
  ) throws(TransferError) -> AttemptRequest {
    switch record.spec.kind {
    case .download: .download(try download(for: record, timeouts: timeouts, didFinishTransfer))
    case .upload: .upload(try upload(for: record, timeouts: timeouts))
    }
  }

  /// What both kinds have in common.
  func transferRequest(_ spec: JobSpec, _ timeouts: Timeouts) throws(TransferError) -> TransferRequest {
    var request = TransferRequest(
      url: spec.kind == .upload ? try RequestURL(uploadTarget: spec.url) : try RequestURL(spec.url))
    for (name, value) in spec.headers {
      guard let name = HTTPField.Name(name) else { continue }
      request.headers[name] = value
    }
    request.credentials = spec.credentials.map { Credentials(username: $0.username, password: $0.password) }
    request.connectTimeout = spec.connectTimeout.map { .seconds($0) } ?? timeouts.connect
    request.stallTimeout = spec.stallTimeout.map { .seconds($0) } ?? timeouts.stall
    request.limitRate = spec.limitRate
    request.usesAmbientCredentials = !paths.isMember(spec.owner)
    return request
  }

  private func download(
    for record: JobRecord, timeouts: Timeouts, _ didFinishTransfer: @escaping @Sendable () async -> Void
  ) throws(TransferError) -> DownloadRequest {
    let spec = record.spec
    var request = try transferRequest(spec, timeouts)
    network.apply(to: &request, of: spec.owner)
    let destination = try Self.destination(of: record, request.url)
    var options: DownloadOptions = []
    if spec.createDirectories { options.insert(.createIntermediateDirectories) }
    if spec.replace { options.insert(.removePreviousFile) }
    let journal = JobJournal(
      store: store, id: record.job.id, fence: record.fence, isUnnamed: spec.destination.hasSuffix("/"),
      didFinishTransfer: didFinishTransfer)
    return session.download(
      request, to: destination, options: options, rules: paths.rules(for: spec.owner, .write),
      resumingWith: record.resumeData,
      expecting: Self.digests(spec.checksum), partialName: Self.partialName(of: record), journal: journal,
      interceptor: SecretAdapter(spec, secrets))
  }

  /// Where the file goes, and the name it has unless the response names it.
  static func destination(
    of record: JobRecord, _ url: RequestURL
  ) throws(TransferError) -> DownloadDestination {
    let path = record.spec.destination
    guard path.hasSuffix("/") else { return try DownloadDestination(path: path) }
    return DownloadDestination(
      directory: path == "/" ? "/" : String(path.dropLast()),
      name: SafeFileName(urlPath: url.path)?.string ?? "download", isNamedByResponse: true)
  }

  /// The part file's name: the same in every attempt, known before the file is made, and nobody else's.
  static func partialName(of record: JobRecord) -> String {
    if let data = record.resumeData.flatMap({ ResumeData($0) }) { return data.partialFile.name }
    let path = record.spec.destination
    let name = path.hasSuffix("/") ? "download" : String(path[path.index(after: path.lastIndex(of: "/")!)...])
    return SafeFileName.partial(for: name, token: record.partToken)
  }

  /// The directory of the part file.
  static func directory(of record: JobRecord) -> String {
    let path = record.spec.destination
    guard let slash = path.lastIndex(of: "/"), slash != path.startIndex else { return "/" }
    return String(path[..<slash])
  }

  /// Of an upload from standard input, the daemon's own copy of that.
  func removePartFile(of record: JobRecord) {
    guard record.job.kind == .download else {
      if let token = record.spec.spool { spools.remove(token, in: .everything) }
      return
    }
    Self.removeDownload(of: record, paths)
  }

  /// A part file in a directory that the job may not write to stays: it is not this job's.
  static func removeDownload(of record: JobRecord, _ paths: PathPolicy) {
    PartialFiles.remove(
      partialName(of: record), in: directory(of: record), rules: paths.rules(for: record.spec.owner, .write))
  }

  private static func digests(_ checksum: String?) -> [ExpectedDigest] {
    guard let checksum, let parsed = try? Checksum(parsing: checksum) else { return [] }
    let algorithm: DigestAlgorithm =
      switch parsed.algorithm {
      case .sha256: .sha256
      case .sha512: .sha512
      case .sha1: .sha1
      case .md5: .md5
      }
    return [ExpectedDigest(algorithm: algorithm, hex: parsed.hex)]
  }
}
