import Synchronization

/// A download's first transfer that a group has started and a `DownloadPipeline` continues.
final class AdoptedTransfer: Sendable {
  let running: RunningTransfer
  /// The request after its adapters, without the fields of a range question.
  let request: TransferRequest
  /// The destination's directory, checked and open.
  let directory: Directory
  /// What was decided about the destination.
  let existing: ExistingFileDecision?

  private struct State {
    var outcome: TransferOutcome?
    var continuation: CheckedContinuation<TransferOutcome, Never>?
  }
  private let state = Mutex(State())

  init(
    _ running: RunningTransfer, _ request: TransferRequest, _ directory: Directory, _ existing: ExistingFileDecision?
  ) {
    self.running = running
    self.request = request
    self.directory = directory
    self.existing = existing
  }

  /// The transfer has ended. Called once.
  func complete(_ outcome: TransferOutcome) {
    let continuation = state.withLock { state in
      state.outcome = outcome
      defer { state.continuation = nil }
      return state.continuation
    }
    continuation?.resume(returning: outcome)
  }

  /// Returns when the transfer has ended. Awaited once. Cancelling the task ends the transfer.
  var outcome: TransferOutcome {
    get async {
      let (id, loop) = (running.id, running.loop)
      return await withTaskCancellationHandler {
        await withCheckedContinuation { continuation in
          let outcome = state.withLock { state in
            if state.outcome == nil { state.continuation = continuation }
            return state.outcome
          }
          if let outcome { continuation.resume(returning: outcome) }
        }
      } onCancel: {
        id.cancel()
        Task { await loop.cancel(id) }
      }
    }
  }
}
