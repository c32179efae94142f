import Synchronization
import WireValues

/// Holds the ledger of a running upload, and writes it to the journal.
final class LedgerWriter: Sendable {
  private let journal: (any UploadJournal)?
  private let state: Mutex<State>
  /// The shortest time between two records of progress alone.
  private static let interval = Duration.seconds(2)

  private struct State {
    var ledger: UploadLedger?
    var noted: ContinuousClock.Instant?
  }

  init(_ ledger: UploadLedger?, journal: (any UploadJournal)?) {
    self.journal = journal
    state = Mutex(State(ledger: ledger, noted: ledger == nil ? nil : .now))
  }

  var ledger: UploadLedger? { state.withLock { $0.ledger } }
  var progress: UploadLedger.Progress? { state.withLock { $0.ledger?.progress } }

  /// Records a change of what identifies the upload on the server; returns when that is durable.
  func record(
    _ progress: UploadLedger.Progress, acknowledged: Int64 = 0, for attempt: UploadAttempt
  ) async throws(TransferError) {
    let ledger = state.withLock { state in
      var ledger =
        state.ledger
        ?? UploadLedger(
          source: attempt.source.identity, target: attempt.upload.request.url.ledgerTarget, progress: progress)
      ledger.progress = progress
      ledger.acknowledged = acknowledged
      state.ledger = ledger
      state.noted = .now
      return ledger
    }
    try await write(ledger)
  }

  /// Notes that the server has more bytes. Recorded if the last record is old enough.
  func note(acknowledged: Int64) async throws(TransferError) {
    let ledger = state.withLock { state -> UploadLedger? in
      state.ledger?.acknowledged = acknowledged
      guard let noted = state.noted, noted.duration(to: .now) >= Self.interval else { return nil }
      state.noted = .now
      return state.ledger
    }
    if let ledger { try await write(ledger) }
  }

  /// Notes how much the server has at the start of an attempt. Recorded at once if it is more than before: what an
  /// earlier attempt achieved is progress, however it ended.
  func confirm(acknowledged: Int64) async throws(TransferError) {
    let ledger = state.withLock { state -> UploadLedger? in
      guard let known = state.ledger?.acknowledged, acknowledged > known else { return nil }
      state.ledger?.acknowledged = acknowledged
      state.noted = .now
      return state.ledger
    }
    if let ledger { try await write(ledger) }
  }

  /// Nothing of the upload is left on the server.
  func clear() { state.withLock { $0.ledger = nil } }

  private func write(_ ledger: UploadLedger) async throws(TransferError) {
    guard let journal else { return }
    do {
      try await journal.record(ledger, acknowledged: ledger.acknowledged)
    } catch {
      throw .hook(.journal, error)
    }
  }
}
