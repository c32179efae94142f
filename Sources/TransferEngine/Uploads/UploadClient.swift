import FoundationEssentials
import HTTPTypes
import Synchronization
import WireValues

/// Sends the requests of one upload, one or several at a time, and sums up their costs.
final class UploadClient: Sendable {
  let session: Session
  let record: RequestRecord
  private let pause: @Sendable () async -> Void
  /// A transfer that a group has run already. It replaces the first transfer.
  private let adopted: Mutex<AdoptedUpload?>
  private let state = Mutex(State())

  private struct State {
    var running: Set<TransferID> = []
    var isInterrupted = false
    var head: ResponseHead?
    var origin: String?
    var bytesSent: Int64 = 0
  }

  /// - Parameters:
  ///   - adopted: the transfer that replaces the first one.
  ///   - pause: waits while the request is suspended.
  init(
    _ record: RequestRecord, adopting adopted: AdoptedUpload? = nil, pause: @escaping @Sendable () async -> Void = {}
  ) {
    session = record.session
    self.record = record
    self.adopted = Mutex(adopted)
    self.pause = pause
  }

  var metrics: [TransferMetrics] { record.metrics }
  /// Body bytes that were sent, including those that were sent again.
  var bytesSent: Int64 { state.withLock { $0.bytesSent } }
  /// The head of the last response.
  var head: ResponseHead? { state.withLock { $0.head } }
  var respondingOrigin: String? { state.withLock { $0.origin } }

  /// Stops the running transfers, for `suspend()`.
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

  /// Allows requests again after `interrupt()`.
  func allow() { state.withLock { $0.isInterrupted = false } }

  /// How a request is sent.
  struct SendOptions: Sendable {
    /// libcurl must not repeat it on another connection.
    var isOnce = false
    /// Follow 307 and 308; a signed request would need another signature and does not follow them.
    var followsRedirects = true
    /// Called on the transfer loop's thread for every 1xx response.
    var interim: (@Sendable (ResponseHead) -> Void)?
    var maximumInterims = 200
    /// Called before the transfer begins, so that the transfer can be unpaused.
    var willStart: (@Sendable (TransferID) -> Void)?
  }

  /// Sends a request. Follows 307 and 308 (RFC 9110 §15.4.8), the only redirects that keep the method and the body.
  /// - Throws: `.cancelled`, `.redirect`.
  func send(
    _ request: TransferRequest, _ body: UploadBody? = nil, _ options: SendOptions = SendOptions()
  ) async throws(TransferError) -> UploadResponse {
    var request = request
    request.body = nil
    var hops = 0
    while true {
      await pause()
      let response = try await transfer(request, body, options)
      guard options.followsRedirects, response.failure == nil, let head = response.head, head.isRedirect else {
        return response
      }
      guard head.status == 307 || head.status == 308 || request.method == .head || request.method == .get else {
        throw .redirect(
          .refused(
            to: head.headers[.location].flatMap { try? request.url.resolving($0).origin } ?? "another place",
            reason: "a \(head.status) redirect does not resend the file; only 307 and 308 do"))
      }
      guard
        let next = try await session.redirected(
          request, head, hops: hops, id: record.id, handler: session.redirectHandler)
      else { return response }
      request = next
      hops += 1
    }
  }

  private func transfer(
    _ request: TransferRequest, _ body: UploadBody?, _ options: SendOptions
  ) async throws(TransferError) -> UploadResponse {
    state.withLock { $0.origin = request.url.origin }
    if let adopted = takeAdopted() { return try end(adopted.outcome, adopted.receiver, size: adopted.source.size) }
    let transferID = try begin()
    options.willStart?(transferID)
    record.willSend(request)
    var wire = session.wireRequest(request)
    wire.didReceiveHead = { [record] in record.didReceive($0) }
    wire.upload = body
    wire.needsFreshConnection = options.isOnce
    wire.maximumInterimResponses = options.maximumInterims
    let receiver = UploadReceiver(interim: options.interim, meter: body?.meter)
    let outcome = await session.loop.perform(wire, id: transferID, receiver: receiver)
    state.withLock { _ = $0.running.remove(transferID) }
    return try end(outcome, receiver, size: body?.size ?? 0)
  }

  /// A new transfer, which `interrupt()` can stop.
  /// - Throws: `.cancelled` between `interrupt()` and `allow()`.
  private func begin() throws(TransferError) -> TransferID {
    let transferID = TransferID()
    let isInterrupted = state.withLock { state in
      if !state.isInterrupted { state.running.insert(transferID) }
      return state.isInterrupted
    }
    guard !isInterrupted else { throw .cancelled }
    return transferID
  }

  private func takeAdopted() -> AdoptedUpload? {
    adopted.withLock { adopted in
      defer { adopted = nil }
      return adopted
    }
  }

  /// - Parameter size: the size of the request's body.
  private func end(
    _ outcome: TransferOutcome, _ receiver: UploadReceiver, size: Int64
  ) throws(TransferError) -> UploadResponse {
    record.didEnd(outcome)
    guard let response = UploadResponse(outcome, receiver, size: size) else { throw .cancelled }
    state.withLock { state in
      state.bytesSent = state.bytesSent.saturatingSum(outcome.metrics?.bytesSent ?? 0)
      state.head = response.head ?? state.head
    }
    return response
  }

  /// Runs another kind of transfer under an identifier that `interrupt()` can stop.
  func track<Value: Sendable>(
    _ work: (TransferID) async throws(TransferError) -> Value
  ) async throws(TransferError) -> Value {
    await pause()
    let transferID = try begin()
    defer { state.withLock { _ = $0.running.remove(transferID) } }
    return try await work(transferID)
  }

  /// Records the end of such a transfer.
  func add(_ metrics: TransferMetrics, origin: String) {
    record.didEnd(.finished(head: nil, metrics: metrics))
    state.withLock { state in
      state.bytesSent = state.bytesSent.saturatingSum(metrics.bytesSent)
      state.origin = origin
    }
  }
}

extension TransferError {
  /// No connection was made, so no request was sent.
  var cameBeforeTheRequest: Bool {
    if case .connection(.tls) = self { return true }
    if case .connection(.proxy) = self { return true }
    return isConnectionFailure
  }
}
