import Synchronization

/// Makes a download's progress durable while it runs, outside the transfer loop: note how much is written → sync it to
/// disk → record the length. One checkpoint runs at a time; signals that arrive meanwhile are combined into one.
final class Checkpointer: Sendable {
  private let state = Mutex(State())
  private let journal: (any DownloadJournal)?
  private let loop: any TransferPerformer
  private let id: TransferID
  private let plan: DownloadPlan

  private struct State {
    var receiver: DownloadReceiver?
    var isWaiting = false
    var failure: TransferError?
    /// The task that handles signals; most downloads are too small to need one.
    var worker: Task<Void, Never>?
    var mustGoOn = false
    var isFinished = false
    /// Wait for a checkpoint that has not begun.
    var waiters: [CheckedContinuation<Bool, Never>] = []
  }

  init(journal: (any DownloadJournal)?, loop: any TransferPerformer, id: TransferID, plan: DownloadPlan) {
    self.journal = journal
    self.loop = loop
    self.id = id
    self.plan = plan
  }

  /// Set before the transfer begins.
  func attach(_ receiver: DownloadReceiver) {
    state.withLock { $0.receiver = receiver }
  }

  /// Why the transfer had to end: a download whose progress cannot be recorded must not continue.
  var failure: TransferError? { state.withLock { $0.failure } }

  /// The part file and its record; `nil` after the transfer, and for a body that cannot be resumed.
  var file: (part: PartialFile, data: ResumeData)? {
    state.withLock { $0.receiver }.flatMap { receiver in
      receiver.shared.withLock { shared in
        guard let part = shared.part, let data = shared.resumeData else { return nil }
        return (part, data)
      }
    }
  }

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

  /// Makes a checkpoint that begins after this call.
  /// - Returns: whether it is durable; `true` without a journal.
  func flush() async -> Bool {
    guard journal != nil else { return true }
    return await withCheckedContinuation { continuation in
      let isTooLate = state.withLock { state in
        guard !state.isFinished, state.failure == nil else { return true }
        state.waiters.append(continuation)
        return false
      }
      if isTooLate { continuation.resume(returning: false) } else { signal(isWaiting: false) }
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
    for waiter in state.withLock({ Self.takeWaiters(&$0) }) { waiter.resume(returning: false) }
  }

  private func work(_ receiver: DownloadReceiver, _ journal: any DownloadJournal) async {
    while let waiters = beginRound() {
      do throws(TransferError) {
        try await checkpoint(receiver, journal)
      } catch {
        let others = state.withLock { state in
          state.failure = error
          return Self.takeWaiters(&state)
        }
        for waiter in waiters + others { waiter.resume(returning: false) }
        receiver.shared.withLock { $0.board }?.fail(error)
        await loop.cancel(id)
        return
      }
      for waiter in waiters { waiter.resume(returning: true) }
      let wasWaiting = state.withLock { state in
        defer { state.isWaiting = false }
        return state.isWaiting
      }
      if wasWaiting { await loop.unpause(id) }
    }
  }

  /// - Returns: who waits for the next checkpoint; `nil` if none is wanted.
  private func beginRound() -> [CheckedContinuation<Bool, Never>]? {
    state.withLock { state in
      guard state.mustGoOn, !state.isFinished else {
        state.worker = nil
        return nil
      }
      state.mustGoOn = false
      return Self.takeWaiters(&state)
    }
  }

  private static func takeWaiters(_ state: inout State) -> [CheckedContinuation<Bool, Never>] {
    defer { state.waiters = [] }
    return state.waiters
  }

  private func checkpoint(_ receiver: DownloadReceiver, _ journal: any DownloadJournal) async throws(TransferError) {
    let (data, part, written, board) = receiver.shared.withLock { ($0.resumeData, $0.part, $0.written, $0.board) }
    guard var data, let part else { return }
    // What is noted now is synced below.
    let segments = board?.record
    let plan = plan
    let home = receiver.directory.flatMap { $0 == part.directory ? nil : $0 }
    // The first record only names the file, so nothing has to be synced for it.
    if receiver.shared.withLock({ $0.isRecorded }) {
      try await BlockingIO.run { () throws(TransferError) in
        do throws(TransferError) {
          try part.synchronize()
        } catch {
          // Its pieces may be lost (fsync(2)).
          part.directory.remove(PieceMap.name(of: part.name))
          throw error
        }
        // The length may not be known before.
        try plan.checkFree(in: [part.directory, home].compactMap { $0 })
      }
      data.checkpointBytes = segments?.synced.count ?? written
      data.segments = segments
    } else if let segments {
      data.segments = .init(map: segments.map)
    }
    do {
      try await journal.record(data)
    } catch {
      throw .hook(.journal, error)
    }
    receiver.shared.withLock { shared in
      shared.isRecorded = true
      shared.resumeData?.checkpointBytes = data.checkpointBytes
      shared.resumeData?.segments = data.segments
    }
  }
}
