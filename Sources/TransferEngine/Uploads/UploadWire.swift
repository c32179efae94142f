import FoundationEssentials
import HTTPTypes
import Synchronization
import WireValues

/// What an answer to one request of an upload was. A failure comes as a value: what was sent before it matters.
struct UploadAnswer: Sendable {
  var head: ResponseHead?
  /// The answer's body, as far as it is kept.
  var data = Data()
  /// Body bytes that went out, before the answer's last byte came: what a server takes after it has said all may go anywhere.
  var sent: Int64 = 0
  /// Body bytes that were to be sent.
  var size: Int64 = 0
  var failure: TransferError?

  var isBodySent: Bool { sent >= size }

  /// The head of an answer that came whole.
  func get() throws(TransferError) -> ResponseHead {
    if let failure { throw failure }
    guard let head else { throw .connection(.broken("no answer")) }
    return head
  }

  /// The head, if it says success.
  func success() throws(TransferError) -> ResponseHead {
    let head = try get()
    guard (200..<300).contains(head.status) else { throw head.refusal }
    return head
  }
}

extension UploadAnswer {
  /// The whole body went out and nothing came back.
  var isOutcomeUnknown: Bool {
    guard let failure, head == nil else { return false }
    return isBodySent && !failure.cameBeforeTheRequest
  }
}

extension ResponseHead {
  /// The status as an error.
  var refusal: TransferError {
    let delay = headers[.retryAfter].flatMap { RetryAfter.delay(from: $0, now: Date()) }
    return .response(.unacceptableStatus(status, retryAfter: delay))
  }

  /// A field by its name, for names that HTTPTypes has no word for.
  func field(_ name: String) -> String? { HTTPField.Name(name).flatMap { headers[$0] } }

  /// A field that holds a count of bytes: digits that fit 63 bits, or nothing.
  func count(_ name: String) -> Int64? {
    field(name).flatMap { CheckedNumber(digits: $0.trimmingBlanks()).value }
  }
}

extension HTTPFields {
  /// Sets a field by a name that is known to be one.
  mutating func set(_ name: String, _ value: String?) {
    guard let name = HTTPField.Name(name) else { preconditionFailure("\(name) is no field name") }
    self[name] = value
  }
}

/// Sends the requests of one upload, one or several at a time, and keeps account of what they cost.
final class UploadWire: Sendable {
  let session: Session
  let id: RequestID
  private let pause: @Sendable () async -> Void
  private let state = Mutex(State())

  private struct State {
    var running: Set<TransferID> = []
    var metrics: [TransferMetrics] = []
    var isInterrupted = false
    var head: ResponseHead?
    var origin: String?
    var bytesSent: Int64 = 0
  }

  /// So much of an answer's body is kept; nothing more is taken.
  static let answerLimit = 4 << 20

  /// - Parameter pause: returns at once unless the request is suspended.
  init(session: Session, id: RequestID, pause: @escaping @Sendable () async -> Void = {}) {
    self.session = session
    self.id = id
    self.pause = pause
  }

  var metrics: [TransferMetrics] { state.withLock { $0.metrics } }
  /// Body bytes that went out, those sent again included.
  var bytesSent: Int64 { state.withLock { $0.bytesSent } }
  /// Of the last answer.
  var head: ResponseHead? { state.withLock { $0.head } }
  var respondingOrigin: String? { state.withLock { $0.origin } }

  /// Stops what runs now, for `suspend()`.
  func interrupt() {
    let running = state.withLock { state in
      state.isInterrupted = true
      return state.running
    }
    let loop = session.loop
    for id in running {
      id.cancel()
      Task { await loop.cancel(id) }
    }
  }

  /// Lets requests through again after `interrupt()`.
  func allow() { state.withLock { $0.isInterrupted = false } }

  /// How a request is sent.
  struct Manner: Sendable {
    /// libcurl must not send it a second time by itself, on another connection.
    var isOnce = false
    /// 307 and 308 lead on; a signed request has to be signed anew for another place, and does without.
    var followsRedirects = true
    /// Called on the transfer loop's thread for every 1xx answer.
    var interim: (@Sendable (ResponseHead) -> Void)?
    var maximumInterims = 200
    /// Told before the transfer begins, so that it can be unpaused.
    var willStart: (@Sendable (TransferID) -> Void)?
  }

  /// Sends a request and follows 307 and 308 (RFC 9110 §15.4.8), for these alone keep the method and the body.
  /// - Throws: `.cancelled`, `.redirect`.
  func send(
    _ request: TransferRequest, _ body: UploadBody? = nil, _ manner: Manner = Manner()
  ) async throws(TransferError) -> UploadAnswer {
    var request = request
    request.body = nil
    var hops = 0
    while true {
      await pause()
      let answer = try await transfer(request, body, manner)
      guard manner.followsRedirects, answer.failure == nil, let head = answer.head, head.isRedirect else {
        return answer
      }
      guard head.status == 307 || head.status == 308 || request.method == .head || request.method == .get else {
        throw .redirect(
          .refused(
            to: head.headers[.location].flatMap { try? request.url.resolving($0).origin } ?? "another place",
            reason: "a \(head.status) says nothing of sending the file there"))
      }
      guard
        let next = try await session.redirected(
          request, head, hops: hops, id: id, handler: session.redirectHandler)
      else { return answer }
      request = next
      hops += 1
    }
  }

  private func transfer(
    _ request: TransferRequest, _ body: UploadBody?, _ manner: Manner
  ) async throws(TransferError) -> UploadAnswer {
    let transferID = TransferID()
    let isInterrupted = state.withLock { state in
      if !state.isInterrupted { state.running.insert(transferID) }
      state.origin = request.url.origin
      return state.isInterrupted
    }
    guard !isInterrupted else { throw .cancelled }
    manner.willStart?(transferID)
    session.notify(id, .send(request))
    var wire = session.wireRequest(request)
    wire.upload = body
    wire.needsFreshConnection = manner.isOnce
    wire.maximumInterimResponses = manner.maximumInterims
    let receiver = UploadReceiver(interim: manner.interim, meter: body?.meter)
    let outcome = await session.loop.perform(wire, id: transferID, receiver: receiver)
    state.withLock { _ = $0.running.remove(transferID) }
    switch outcome {
    case .cancelled: throw .cancelled
    case .failed(let error, let head, let metrics):
      return answer(receiver, head, metrics, body, error)
    case .finished(let head, let metrics):
      return answer(receiver, head, metrics, body, nil)
    }
  }

  /// Runs a transfer of another kind under an identifier that `interrupt()` knows.
  func track<Value: Sendable>(
    _ work: (TransferID) async throws(TransferError) -> Value
  ) async throws(TransferError) -> Value {
    await pause()
    let transferID = TransferID()
    let isInterrupted = state.withLock { state in
      if !state.isInterrupted { state.running.insert(transferID) }
      return state.isInterrupted
    }
    guard !isInterrupted else { throw .cancelled }
    defer { state.withLock { _ = $0.running.remove(transferID) } }
    return try await work(transferID)
  }

  /// What such a transfer cost.
  func add(_ metrics: TransferMetrics, origin: String) {
    state.withLock { state in
      state.metrics.append(metrics)
      state.bytesSent = state.bytesSent.saturatingSum(metrics.bytesSent)
      state.origin = origin
    }
    session.notify(id, .gatherMetrics(metrics))
  }

  private func answer(
    _ receiver: UploadReceiver, _ head: ResponseHead?, _ metrics: TransferMetrics, _ body: UploadBody?,
    _ failure: TransferError?
  ) -> UploadAnswer {
    state.withLock { state in
      state.metrics.append(metrics)
      state.bytesSent = state.bytesSent.saturatingSum(metrics.bytesSent)
      state.head = head ?? state.head
    }
    session.notify(id, .gatherMetrics(metrics))
    if let head { session.notify(id, .receiveHead(head)) }
    var answer = UploadAnswer(
      head: head, data: receiver.data, sent: min(metrics.bytesSent, receiver.takenBefore ?? .max),
      size: body?.size ?? 0,
      failure: failure)
    // A status counts, even if the connection broke over what was still being sent (RFC 9110 §15.5.14) or over the text
    // that follows it.
    if let head, failure.map(\.isConnectionTrouble) ?? false,
      head.status >= 400 || (200..<300).contains(head.status) && answer.isBodySent
    {
      answer.failure = nil
    }
    return answer
  }
}

extension TransferError {
  /// The connection ended before its time; nothing is wrong with this side.
  fileprivate var isConnectionTrouble: Bool {
    switch self {
    case .connection(.broken), .response(.truncated), .connection(.stalled): true
    default: false
    }
  }
}

/// Collects an answer's body.
///
/// `@unchecked Sendable`: touched on the transfer loop's thread while the transfer runs and read after it; the loop's
/// continuation stands between the two.
private final class UploadReceiver: TransferReceiver, @unchecked Sendable {
  private(set) var data = Data()
  /// Bytes of the request's body that libcurl had taken when the last piece of the answer came.
  private(set) var takenBefore: Int64?
  private let interim: (@Sendable (ResponseHead) -> Void)?
  private let meter: UploadMeter?

  init(interim: (@Sendable (ResponseHead) -> Void)?, meter: UploadMeter?) {
    self.interim = interim
    self.meter = meter
  }

  func receive(interim head: ResponseHead) { interim?(head) }

  func receive(_ head: ResponseHead) throws(TransferError) -> HeadVerdict {
    data.removeAll()
    takenBefore = meter?.taken
    return .takeBody
  }

  func receive(_ bytes: UnsafeRawBufferPointer) throws(TransferError) -> BodyVerdict {
    guard data.count + bytes.count <= UploadWire.answerLimit else {
      return .stop
    }
    data.append(contentsOf: bytes)
    takenBefore = meter?.taken
    return .taken
  }
}

extension TransferError {
  /// No connection was made, so nothing was asked.
  fileprivate var cameBeforeTheRequest: Bool {
    if case .connection(.tls) = self { return true }
    if case .connection(.proxy) = self { return true }
    return isConnectionFailure
  }
}
