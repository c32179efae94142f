import HTTPTypes
import Synchronization

/// Follows the 104 answers that come while a body is on its way: learns the upload's URL, has it recorded while the body
/// waits at a gate, and keeps the offsets that the server acknowledged.
final class ResumableTrail: Sendable {
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
  /// Where the body begins in the file.
  private let start: Int64
  private let state: Mutex<State>

  init(_ attempt: UploadAttempt, base: TransferRequest, start: Int64 = 0, progress: ResumableProgress? = nil) {
    self.attempt = attempt
    self.base = base
    self.start = start
    state = Mutex(State(progress: progress, acknowledged: start))
  }

  var wire: UploadWire { attempt.wire }
  var progress: ResumableProgress? { state.withLock { $0.progress } }
  var limit: UploadLimit? { state.withLock { $0.limit } }
  var acknowledged: Int64 { state.withLock { $0.acknowledged } }

  /// After a POST that ended without an answer: nobody knows how only where all of it was taken and it was cancelled then.
  func forgetPost(unlessTaken body: UploadBody, _ error: TransferError) {
    guard case .posting? = attempt.ledger.progress else { return }
    if body.meter.taken < body.size || !error.isCancellation { attempt.ledger.clear() }
  }

  func willStart(_ transfer: TransferID) { state.withLock { $0.transfer = transfer } }

  /// On the transfer loop's thread. A 104 of a version that is not known here is somebody else's.
  func receive(interim head: ResponseHead) {
    guard head.status == 104, let version = ResumableFields.version(of: head) else { return }
    if let location = head.headers[.location] { learn(location, version, UploadLimit(head)) }
    guard let offset = head.count("Upload-Offset"), offset <= attempt.source.size else { return }
    state.withLock { $0.acknowledged = max($0.acknowledged, offset) }
  }

  /// What a final answer says beyond that.
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
      // What cannot be recorded must not go on.
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

  /// Returns when no record is under way any more.
  /// - Throws: what kept the URL from being recorded.
  func settle() async throws(TransferError) {
    if let task = state.withLock({ $0.recording }), let failure = await task.value { throw failure }
  }
}
