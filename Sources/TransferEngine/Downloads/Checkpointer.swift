import Synchronization

/// Makes a download's progress durable while it runs, outside the transfer loop: note how much is written → sync it to
/// disk → record the length. One checkpoint runs at a time; signals that arrive meanwhile are combined into one.
final class Checkpointer: Sendable {
  private let state = Mutex(State())
  private let journal: (any DownloadJournal)?
  private let loop: any TransferPerformer
  private let id: TransferID

  private struct State {
    var receiver: DownloadReceiver?
    var isWaiting = false
    var failure: TransferError?
    /// The task that handles signals; most downloads are too small to need one.
    var worker: Task<Void, Never>?
    var mustGoOn = false
    var isFinished = false
  }

  init(journal: (any DownloadJournal)?, loop: any TransferPerformer, id: TransferID) {
    self.journal = journal
    self.loop = loop
    self.id = id
  }

  /// Set before the transfer begins.
  func attach(_ receiver: DownloadReceiver) {
    state.withLock { $0.receiver = receiver }
  }

  /// Why the transfer had to end: a download whose progress cannot be recorded must not continue.
  var failure: TransferError? { state.withLock { $0.failure } }

  /// - Parameter isWaiting: the transfer is paused until a record is durable.
  func signal(isWaiting: Bool) {
    guard let journal else { return }
    state.withLock { state in
      if isWaiting { state.isWaiting = true }
      guard let receiver = state.receiver, !state.isFinished else { return }
      state.mustGoOn = true
      if state.worker == nil { state.worker = Task { await self.work(receiver, journal) } }
    }
  }

  /// The transfer has ended. Returns when a running checkpoint is complete; no other follows.
  func finish() async {
    let worker = state.withLock { state in
      state.isFinished = true
      state.receiver = nil
      return state.worker
    }
    await worker?.value
  }

  private func work(_ receiver: DownloadReceiver, _ journal: any DownloadJournal) async {
    while true {
      let goesOn = state.withLock { state in
        guard state.mustGoOn, !state.isFinished else {
          state.worker = nil
          return false
        }
        state.mustGoOn = false
        return true
      }
      guard goesOn else { return }
      do throws(TransferError) {
        try await checkpoint(receiver, journal)
      } catch {
        state.withLock { $0.failure = error }
        await loop.cancel(id)
        return
      }
      let wasWaiting = state.withLock { state in
        defer { state.isWaiting = false }
        return state.isWaiting
      }
      if wasWaiting { await loop.unpause(id) }
    }
  }

  private func checkpoint(_ receiver: DownloadReceiver, _ journal: any DownloadJournal) async throws(TransferError) {
    let (data, part, written) = receiver.shared.withLock { ($0.resumeData, $0.part, $0.written) }
    guard var data, let part else { return }
    // The first record only names the file, so nothing has to be synced for it.
    if receiver.shared.withLock({ $0.isRecorded }) {
      try await BlockingIO.run { () throws(TransferError) in try part.synchronize() }
      data.checkpointBytes = written
    }
    do {
      try await journal.record(data)
    } catch {
      throw .hook(.journal, error)
    }
    receiver.shared.withLock { shared in
      shared.isRecorded = true
      shared.resumeData?.checkpointBytes = data.checkpointBytes
    }
  }
}
