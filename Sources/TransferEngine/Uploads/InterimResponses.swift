import HTTPTypes
import Synchronization
import WireValues

/// Handles the 104 responses that arrive while a body is sent: learns the upload's URL, records it while the body waits
/// at a gate, and keeps the offsets that the server acknowledges.
final class InterimResponses: Sendable {
  private struct State {
    var progress: ResumableProgress?
    var limit: UploadLimit?
    var acknowledged: Int64 = 0
    var transfer: TransferID?
    var recording: Task<TransferError?, Never>?
  }

  let gate = UploadGate()
  private let attempt: UploadAttempt
  private let base: TransferRequest
  /// The body's first byte in the file.
  private let start: Int64
  private let state: Mutex<State>

  init(_ attempt: UploadAttempt, base: TransferRequest, start: Int64 = 0, progress: ResumableProgress? = nil) {
    self.attempt = attempt
    self.base = base
    self.start = start
    state = Mutex(State(progress: progress, acknowledged: start))
  }

  var wire: UploadClient { attempt.wire }
  var progress: ResumableProgress? { state.withLock { $0.progress } }
  var limit: UploadLimit? { state.withLock { $0.limit } }
  var acknowledged: Int64 { state.withLock { $0.acknowledged } }

  /// Removes the note of a POST that ended without a response. Its outcome is unknown only if the whole body was sent
  /// and the POST was then cancelled.
  func forgetPost(unlessTaken body: UploadBody, _ error: TransferError) {
    guard case .posting? = attempt.ledger.progress else { return }
    if body.meter.taken < body.size || !error.isCancellation { attempt.ledger.clear() }
  }

  func willStart(_ transfer: TransferID) { state.withLock { $0.transfer = transfer } }

  /// Called on the transfer loop's thread. A 104 of an unknown version is ignored.
  func receive(interim head: ResponseHead) {
    guard head.status == 104, let version = ResumableFields.version(of: head) else { return }
    if let location = head.headers[.location] { learn(location, version, UploadLimit(head)) }
    guard let offset = head.count("Upload-Offset"), offset <= attempt.source.size else { return }
    state.withLock { $0.acknowledged = max($0.acknowledged, offset) }
  }

  /// Learns from a final response.
  func learn(_ location: String, _ version: Int, _ limit: UploadLimit?) {
    guard let url = try? base.moved(to: location).url.string else { return }
    let progress = ResumableProgress(url: url, interopVersion: version)
    let isNew = state.withLock { state in
      if let limit { state.limit = limit }
      guard state.progress != progress else { return false }
      state.progress = progress
      return true
    }
    guard isNew else { return }
    gate.shut()
    let task = Task { await self.record(progress) }
    state.withLock { $0.recording = task }
  }

  private func record(_ progress: ResumableProgress) async -> TransferError? {
    do throws(TransferError) {
      try await attempt.ledger.record(.resumable(progress), acknowledged: acknowledged, for: attempt)
    } catch {
      // An upload that cannot be recorded must not continue.
      if let transfer = state.withLock({ $0.transfer }) {
        transfer.cancel()
        await attempt.wire.session.loop.cancel(transfer)
      }
      return error
    }
    if gate.open(), let transfer = state.withLock({ $0.transfer }) {
      await attempt.wire.session.loop.unpause(transfer)
    }
    return nil
  }

  /// Returns when no record is being written.
  /// - Throws: why the URL could not be recorded.
  func settle() async throws(TransferError) {
    if let task = state.withLock({ $0.recording }), let failure = await task.value { throw failure }
  }
}
