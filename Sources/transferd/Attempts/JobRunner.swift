import FoundationEssentials
import HTTPTypes
import Store
import TransferAPI
import TransferEngine
import WireValues

/// Creates and starts the engine's requests for claimed jobs.
struct JobRunner: Sendable {
  let session: Session
  let store: Store
  let secrets: SecretResolver
  let stateDirectory: String
  var network = NetworkRules()
  /// Which paths jobs may use, and which users' jobs may use the service's credentials.
  let paths: PathPolicy
  let groupedDownloads: GroupedDownloads
  let groupedUploads: GroupedUploads
  let bandwidth: JobBandwidth
  /// What running downloads know of their sources.
  let sources = JobSources()
  var storage = StorageRules()
  /// The room of relays' copies in the spool.
  let space = RelaySpace()
  var relays: RelaySpool { RelaySpool(stateDirectory: stateDirectory) }
  var spools: SpoolDirectory { SpoolDirectory(stateDirectory: stateDirectory) }

  /// Default timeouts for connecting and for progress, for jobs that do not set their own.
  struct Timeouts: Equatable, Sendable {
    var connect = Duration.seconds(30)
    var stall = Duration.seconds(30)
  }

  /// Starts one attempt of each job.
  /// - Parameter reports: called for each attempt, also for one whose request cannot be created because the stored job is
  ///   invalid for this release, such as an unknown URL scheme of a newer one.
  /// - Returns: the requests of the attempts that started.
  func start(_ records: [JobRecord], timeouts: Timeouts, _ reports: AttemptReports) -> [(JobRecord, AttemptRequest)] {
    var started: [(JobRecord, AttemptRequest)] = []
    var downloads: [(GroupDownload, fence: Int64)] = []
    var uploads: [GroupUpload] = []
    var failed: [(JobID, AttemptResponse)] = []
    for record in records.map({ $0.leg(in: relays) }) {
      let id = record.job.id
      do throws(TransferError) {
        switch record.spec.kind {
        case .download:
          try checkRoom(for: record)
          var download = try download(for: record, timeouts: timeouts, reports)
          download.request.bandwidthBuckets = bandwidth.begin(record)
          let places = try sources(of: record, download.request, reports)
          sources.begin(id, places)
          download.sources = places
          // A group does not tell which file got the name.
          guard !Self.mayShareWork(download, record.spec) || record.spec.options.onSuccess != .keep else {
            downloads.append((download, fence: record.fence))
            started.append((record, .grouped(id, groupedDownloads)))
            continue
          }
          let request = request(for: download)
          started.append((record, .download(request)))
          Task { await reports.ended([(id, .download(await request.response()))]) }
        case .upload:
          var upload = try upload(for: record, timeouts: timeouts, reports)
          upload.upload.request.bandwidthBuckets = bandwidth.begin(record)
          guard !Self.mayShareWork(upload) else {
            uploads.append(upload)
            started.append((record, .grouped(id, groupedUploads)))
            continue
          }
          let request = session.upload(
            upload.upload, resumingWith: upload.ledger, journal: upload.journal, interceptor: upload.interceptor)
          started.append((record, .upload(request)))
          Task { await reports.ended([(id, .upload(await request.response()))]) }
        case .listing:
          let task = try listing(for: record, timeouts: timeouts, reports)
          started.append((record, .listing(task)))
          Task { await reports.ended([(id, .listing(await task.response()))]) }
        case .relay: preconditionFailure("a relay transfers as a download or an upload")
        }
      } catch {
        failed.append((id, AttemptResponse(failing: error, of: record.job.kind)))
      }
    }
    if !downloads.isEmpty { groupedDownloads.start(downloads, reports) }
    if !uploads.isEmpty { groupedUploads.start(uploads, reports) }
    if !failed.isEmpty { Task { [failed] in await reports.ended(failed) } }
    return started
  }

  func limitConnections(_ maximum: Int?, origin: String) async {
    await groupedDownloads.limitConnections(maximum, origin: origin)
    await groupedUploads.limitConnections(maximum, origin: origin)
  }

  /// Whether a download may turn out to be small: a file that has no bytes yet, from a web server, under a known name.
  private static func mayShareWork(_ download: GroupDownload, _ spec: JobSpec) -> Bool {
    let options = spec.options.download
    return spec.spool == nil && download.resumeData == nil && download.request.url.isHTTP
      && !download.destination.isNamedByResponse
      && download.destination.partDirectory == nil && options.mirrors.isEmpty && options.size == nil
      && options.pieces == nil && options.urlFrom == nil
  }

  /// Whether an upload may turn out to be a small PUT: one that begins from nothing, to a web server.
  private static func mayShareWork(_ upload: GroupUpload) -> Bool {
    guard upload.ledger == nil, upload.interceptor == nil, upload.upload.request.url.isHTTP else { return false }
    return switch upload.upload.protocol {
    case .plain, .automatic: true
    default: false
    }
  }

  /// The options that downloads and uploads have in common.
  func transferRequest(_ spec: JobSpec, _ timeouts: Timeouts) throws(TransferError) -> TransferRequest {
    var request = TransferRequest(url: try RequestURL(allowingS3: spec.url))
    let options = spec.options
    for (name, value) in options.headers {
      guard let name = HTTPField.Name(name) else { continue }
      request.headers[name] = value
    }
    if let userAgent = options.userAgent { request.headers[.userAgent] = userAgent }
    if let referer = options.referer { request.headers[.referer] = referer }
    request.credentials = spec.credentials.map { Credentials(username: $0.username, password: $0.password) }
    request.connectTimeout = options.connectTimeout.map { .seconds($0) } ?? timeouts.connect
    request.stallTimeout = options.stallTimeout.map { .seconds($0) } ?? timeouts.stall
    let connection = try connection(spec)
    // Most jobs leave the settings as they are, and share them.
    if connection != request.connection { request.connection = connection }
    request.usesAmbientCredentials = paths.mayUseServiceCredentials(spec.owner)
    return request
  }

  /// A success status whose response has no file, such as 202 or 204, does not complete a job.
  private static let successes: Set<Int> = [200, 203, 206]

  private func request(for download: GroupDownload) -> DownloadRequest {
    session.download(
      download.request, to: download.destination, options: download.options, rules: download.rules,
      resumingWith: download.resumeData, expecting: download.digests, partialName: download.partialName,
      journal: download.journal, segmentation: download.segmentation,
      sources: download.sources ?? DownloadSources(), interceptor: download.interceptor
    )
    .validate(statusCode: Self.successes)
  }

  private func download(
    for record: JobRecord, timeouts: Timeouts, _ reports: AttemptReports
  ) throws(TransferError) -> GroupDownload {
    let spec = record.spec
    var request = try transferRequest(spec, timeouts)
    network.apply(to: &request, of: spec.owner)
    var destination = try Self.destination(of: record, request.url)
    destination.attributes = Self.attributes(spec.options.download)
    destination.existing = ExistingFileRule(spec.options.download)
    destination.partDirectory = spec.options.download.partDir
    storage.apply(to: &destination, of: spec)
    if spec.spool != nil { share(&destination, record.job.id) }
    if spec.options.download.ifChanged { destination.knownVersions = record.fileRecords.compactMap { FileRecord($0) } }
    var options: DownloadOptions = []
    if spec.options.download.createDirectories { options.insert(.createIntermediateDirectories) }
    if spec.options.download.replace { options.insert(.removePreviousFile) }
    let journal = JobJournal(
      store: store, id: record.job.id, fence: record.fence, isUnnamed: spec.destination.hasTrailingSlash,
      reports: reports)
    var download = GroupDownload(
      tag: record.job.id.tag, request: request, to: destination, options: options,
      rules: paths.rules(forFileOf: spec),
      resumingWith: record.resumeData, expecting: Self.digests(spec.options.download.checksum),
      partialName: Self.partialName(of: record), acceptableStatusCodes: Self.successes, journal: journal,
      interceptor: try interceptor(for: spec))
    download.segmentation = segmentation(spec, reports)
    return download
  }

  /// How many connections a download may have: what the job says, or else what the configuration says about its origin.
  private func segmentation(_ spec: JobSpec, _ reports: AttemptReports) -> Segmentation {
    let rule = network.originRule(for: spec.origin)
    switch (spec.options.download.segments, rule?.segments) {
    case (.fixed(let count), _), (.automatic, .fixed(let count)?): return Segmentation(.fixed(count))
    case (.automatic, .automatic?), (.automatic, nil):
      // A job with a rate limit would not become faster; an interval between requests is a wish for few of them.
      guard spec.options.limitRate == nil, rule?.interval == nil else { return Segmentation(.one) }
      return Segmentation(
        .automatic(upTo: SegmentPolicy.automaticConnections),
        permits: OriginPermits(origin: spec.origin, reports: reports))
    }
  }

  /// Asks the queue for connections beside the first one.
  struct OriginPermits: ConnectionPermits {
    let origin: String
    let reports: AttemptReports
    func acquire() async -> Bool { await reports.acquireConnection(origin) }
    func release() async { await reports.releaseConnection(origin) }
  }

  /// The download's destination. Its name is a default if the response may name the file.
  static func destination(
    of record: JobRecord, _ url: RequestURL
  ) throws(TransferError) -> DownloadDestination {
    let path = record.spec.destination
    guard path.hasTrailingSlash else { return try DownloadDestination(path: path) }
    return DownloadDestination(
      directory: String(path.withoutTrailingSlash),
      name: SafeFileName(urlPath: url.path)?.string ?? "download", isNamedByResponse: true)
  }

  private static func attributes(_ options: JobOptions.Download) -> FileAttributes {
    var attributes = FileAttributes()
    // Checked when the job was added.
    attributes.permissions = try? options.permissions()
    attributes.usesRemoteTime = options.remoteTime
    attributes.maximumBytes = options.maxSize
    return attributes
  }

  /// The part file's name. It is unique to the job, the same in every attempt and known before the file is created: also when
  /// the row has the name that the response gave.
  static func partialName(of record: JobRecord) -> String {
    if let data = record.resumeData.flatMap({ ResumeData($0) }) { return data.partialFile.name }
    let path = record.spec.destination
    let isUnnamed = path.hasTrailingSlash || record.spec.options.download.nameFromResponse
    let name = isUnnamed ? "download" : String(path.baseName)
    return SafeFileName.partial(for: name, token: record.partToken)
  }

  /// The directory of the destination, and of the part file unless `partDir` names another one.
  static func directory(of record: JobRecord) -> String {
    record.spec.destination.parentPath
  }

  /// Deletes the daemon's own files of jobs: the part file of a download, the spooled input of an upload, the copy of a relay.
  func removePartFiles(of records: [JobRecord]) async {
    guard !records.isEmpty else { return }
    let (spools, relays, space, paths) = (spools, relays, space, paths)
    await BlockingWork.run {
      for record in records {
        switch record.job.kind {
        case .download: Self.removeDownload(of: record, paths)
        case .listing: break
        case .relay:
          if let place = record.spec.spool { relays.remove(place) }
          space.release(record.job.id)
        case .upload: if let token = record.spec.spool { spools.remove(token, in: .everything) }
        }
      }
    }
  }

  /// Deletes a download's part file, and the copy of it beside the destination. A file in a directory where the job may not write is kept, because it belongs to
  /// something else.
  static func removeDownload(of record: JobRecord, _ paths: PathPolicy) {
    let name = partialName(of: record)
    let rules = paths.rules(forFileOf: record.spec)
    if let directory = record.spec.options.download.partDir { PartialFiles.remove(name, in: directory, rules: rules) }
    PartialFiles.remove(name, in: directory(of: record), rules: rules)
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
