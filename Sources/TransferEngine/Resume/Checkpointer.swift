import Synchronization

/// Makes a download's progress durable while it runs, off the transfer loop: note what is written → bring it to the disk →
/// record that. One at a time; signals that come meanwhile become one.
final class Checkpointer: Sendable {
  private let signals: AsyncStream<Void>
  private let continuation: AsyncStream<Void>.Continuation
  private let state = Mutex(State())

  private struct State {
    var isWaiting = false
    var failure: TransferError?
  }

  init() {
    (signals, continuation) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(1))
  }

  /// Why the transfer had to end: what cannot be recorded must not go on.
  var failure: TransferError? { state.withLock { $0.failure } }

  /// - Parameter isWaiting: the transfer is paused until a record is durable.
  func signal(isWaiting: Bool) {
    if isWaiting { state.withLock { $0.isWaiting = true } }
    continuation.yield()
  }

  /// The transfer ended: a checkpoint under way is finished, none follows.
  func finish() { continuation.finish() }

  /// Returns after `finish()`.
  func run(
    _ receiver: DownloadReceiver, _ journal: any DownloadJournal, _ loop: TransferLoop, _ id: TransferID
  ) async {
    for await _ in signals {
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
    // The first record says only which file it is: nothing needs to be on the disk for that.
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
