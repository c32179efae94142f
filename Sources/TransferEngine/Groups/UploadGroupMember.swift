import HTTPTypes
import Synchronization
import WireValues

/// One upload of a group: its request and its response while it stays in the group, and the code that moves it out of the group.
///
/// `@unchecked Sendable`: the variables without a lock are used by one thread at a time: by the thread that prepares the
/// upload, then by the transfer loop's thread, and after the transfer by the thread that checks the source. Hops and locks
/// separate these.
final class UploadGroupMember: TransferSink, @unchecked Sendable {
  /// Where the upload is. Changed on the loop's thread only.
  enum Phase { case waiting, running, accepted, ended }

  /// A request that can be sent in the group.
  struct Prepared {
    let source: OpenSource
    /// With the session's settings.
    let adapted: TransferRequest
    /// As it is sent.
    let request: TransferRequest
    let wire: WireRequest
    let body: UploadBody
    let receiver: UploadReceiver
  }

  let item: GroupUpload
  let requestID: RequestID
  let transferID = TransferID()
  let group: UploadGroupCore
  /// The origin of the request.
  let origin: String
  /// The directory of the source.
  let directory: String

  var phase = Phase.waiting
  /// `nil` if the upload never stays in the group.
  private(set) var prepared: Prepared?
  /// How the transfer ended.
  private var outcome: TransferOutcome?

  private struct Life {
    var isCancelled = false
    var isAccepted = false
    var core: RequestCore<FileUploadResponse>?
    /// Of the transfer in the group.
    var meter: UploadMeter?
    var size: Int64?
  }
  private let life = Mutex(Life())

  /// A longer file is sent by itself.
  static let maximumSize: Int64 = 1 << 20

  init(_ item: GroupUpload, _ group: UploadGroupCore) {
    self.item = item
    self.group = group
    requestID = group.session.nextRequestID()
    origin = item.upload.request.url.origin
    directory = String(item.upload.source.parentPath)
  }

  private var session: Session { group.session }

  // MARK: Before the transfer

  /// Opens the source and makes the request. Blocks. An upload that cannot be prepared runs later as a single
  /// upload.
  func prepare() {
    let upload = item.upload
    guard !life.withLock({ $0.isCancelled }), staysInGroup(upload),
      let source = try? OpenSource(path: upload.source, rules: upload.rules), source.size <= Self.maximumSize
    else { return }
    var adapted = upload.request
    adapted.redirects = adapted.redirects ?? session.configuration.redirects
    adapted.body = nil
    let request = PlainUpload(form: nil).prepared(adapted, for: upload)
    var wire = session.wireRequest(request)
    // The addresses of the host are resolved before a proxy is used.
    guard wire.addresses == .any || wire.proxy == nil else { return }
    let body = UploadBody([.file(source, source.range)])
    wire.upload = body
    if !session.eventMonitors.isEmpty {
      let (session, id) = (session, requestID)
      wire.didReceiveHead = { session.notify(id, .receiveHead($0)) }
    }
    prepared = Prepared(
      source: source, adapted: adapted, request: request, wire: wire, body: body,
      receiver: UploadReceiver(interim: nil, meter: body.meter))
    life.withLock { life in
      life.meter = body.meter
      life.size = source.size
    }
  }

  private func staysInGroup(_ upload: FileUpload) -> Bool {
    guard item.interceptor == nil, session.interceptor == nil, item.ledger == nil, upload.request.url.isHTTP,
      upload.request.method != .post, !upload.verifiesLength
    else { return false }
    return switch upload.protocol {
    case .plain: true
    case .automatic: session.serverCapabilities.server(at: upload.serverKey) == ServerCapabilities.Server()
    default: false
    }
  }

  // MARK: On the loop's thread

  func transferEnded(_ outcome: TransferOutcome) {
    guard let prepared else { preconditionFailure("the upload is not prepared") }
    self.outcome = outcome
    let response = UploadResponse(outcome, prepared.receiver, size: prepared.source.size)
    guard let response, response.isSuccess, beginCheck() else { return leave() }
    phase = .accepted
    group.accept(self)
  }

  /// - Returns: false if the upload was cancelled.
  private func beginCheck() -> Bool {
    life.withLock { life in
      guard !life.isCancelled else { return false }
      life.isAccepted = true
      return true
    }
  }

  // MARK: After the transfer

  /// The outcome of an upload that the server has accepted; `nil` if its source has changed, and the upload leaves the group.
  /// Blocks.
  func outcomeIfUnchanged() -> UploadGroup.Outcome? {
    guard let prepared, case .finished(let head?, let metrics)? = outcome, (try? prepared.source.check()) != nil else {
      leave()
      return nil
    }
    session.notify(requestID, .gatherMetrics(metrics))
    session.notify(requestID, .finish)
    var response = FileUploadResponse(.success(()))
    (response.head, response.metrics, response.source) = (head, [metrics], prepared.source.identity)
    (response.bytesSent, response.bytesAcknowledged) = (metrics.bytesSent, prepared.source.size)
    (response.totalBytes, response.respondingOrigin) = (prepared.source.size, origin)
    self.prepared = nil
    return UploadGroup.Outcome(tag: item.tag, response: response)
  }

  // MARK: Leaving the group

  /// Continues as a single upload, whose first transfer has ended.
  private func leave() {
    guard let prepared, let outcome else { preconditionFailure("the upload was not sent") }
    let adopted = AdoptedUpload(
      source: prepared.source, request: prepared.adapted, outcome: outcome, receiver: prepared.receiver)
    self.prepared = nil
    start(isReported: true, adopted)
  }

  /// Begins as a single upload.
  func runAlone() { start(isReported: false, nil) }

  private func start(isReported: Bool, _ adopted: AdoptedUpload?) {
    let core = session.uploadCore(
      item.upload, id: requestID, resumingWith: item.ledger, journal: item.journal, interceptor: item.interceptor,
      adopting: adopted
    ) { _ in }
    let isCancelled = life.withLock { life in
      life.core = core
      life.meter = nil
      return life.isCancelled
    }
    if isCancelled {
      core.cancel(dueTo: nil, producingResumeData: true)
    } else if isReported {
      core.startAdopted()
    } else {
      core.resume()
    }
    core.respond { response in
      self.life.withLock { $0.core = nil }
      await self.group.leftMemberEnded(self, response)
    }
  }

  // MARK: Any thread

  /// An upload that the server has accepted ends with success all the same, unless its source has changed.
  /// - Returns: false if it is too late, or if the upload has left the group and cancels itself.
  func cancel() -> Bool {
    let (isNew, core) = life.withLock { life -> (Bool, RequestCore<FileUploadResponse>?) in
      guard !life.isCancelled else { return (false, nil) }
      life.isCancelled = true
      return (life.core == nil && !life.isAccepted, life.core)
    }
    core?.cancel(dueTo: nil, producingResumeData: true)
    if isNew { transferID.cancel() }
    return isNew
  }

  var progress: TransferProgress {
    let (core, meter, size) = life.withLock { ($0.core, $0.meter, $0.size) }
    return core?.progress(.upload) ?? TransferProgress(completed: meter?.taken ?? 0, total: size)
  }
}
