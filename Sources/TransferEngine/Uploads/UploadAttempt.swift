import HTTPTypes
import Synchronization
import WireValues

/// One way of bringing a file to a server: one attempt, from what a ledger says, reporting what became durable.
protocol UploadWay: Sendable {
  /// Returns when the server has it all.
  func perform(_ attempt: UploadAttempt) async throws(TransferError)
  /// Removes what an unfinished upload left on the server. What is not there any more counts as removed.
  func abandon(_ progress: UploadLedger.Progress, _ request: TransferRequest, _ wire: UploadWire)
    async throws(TransferError)
}

/// What a way has to work with.
struct UploadAttempt: Sendable {
  let upload: FileUpload
  /// Adapted.
  let request: TransferRequest
  let source: OpenSource
  let wire: UploadWire
  let ledger: LedgerKeeper
  let board: UploadBoard

  /// The bytes of a range of the source as a transfer's body; what of them is taken shows in the progress until they
  /// have landed.
  func flight(_ range: Range<Int64>, gate: UploadGate? = nil) -> (body: UploadBody, number: Int) {
    let board = board
    let number = board.newFlight()
    let body = UploadBody([.file(source, range)], gate: gate) { board.move(number, to: $0) }
    return (body, number)
  }
}

extension UploadAttempt {
  /// The upload goes on from what the server says it has. Returns when that is durable.
  func goOn(from bytes: Int64) async throws(TransferError) {
    board.resume(from: bytes)
    try await ledger.confirm(acknowledged: bytes)
  }
}

/// Holds the ledger of a running upload, and brings it to the journal.
final class LedgerKeeper: Sendable {
  private let journal: (any UploadJournal)?
  private let state: Mutex<State>
  /// No two notes of mere progress come closer together.
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

  /// What the server knows the upload by has changed: returns when that is durable.
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

  /// The server has more than before. Written when the last note is some time ago.
  func note(acknowledged: Int64) async throws(TransferError) {
    let ledger = state.withLock { state -> UploadLedger? in
      state.ledger?.acknowledged = acknowledged
      guard let noted = state.noted, noted.duration(to: .now) >= Self.interval else { return nil }
      state.noted = .now
      return state.ledger
    }
    if let ledger { try await write(ledger) }
  }

  /// The server said, when an attempt began, how much it has. Durable at once where that is more than was known: what an
  /// earlier attempt won is progress, however it ended.
  fileprivate func confirm(acknowledged: Int64) async throws(TransferError) {
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

/// How far an upload is, as seen from many transfers at once.
final class UploadBoard: Sendable {
  private let state: Mutex<State>
  private let changed: @Sendable (UploadProgress) -> Void

  private struct State {
    var progress: UploadProgress
    var flights: [Int: Int64] = [:]
    var last = 0
    var resumedFrom: Int64 = 0

    /// What servers claim is held to what there is to be sent.
    mutating func add(_ bytes: Int64) {
      progress.acknowledged = min(max(0, progress.acknowledged.saturatingSum(bytes)), progress.total ?? .max)
    }
  }

  init(_ changed: @escaping @Sendable (UploadProgress) -> Void) {
    self.changed = changed
    state = Mutex(State(progress: UploadProgress()))
  }

  var progress: UploadProgress { state.withLock { $0.progress } }
  /// What the server already had, by its own word, when this attempt began.
  var resumedFrom: Int64 { state.withLock { $0.resumedFrom } }

  func resume(from bytes: Int64) {
    state.withLock { $0.resumedFrom = bytes }
    acknowledge(bytes)
  }

  func start(total: Int64, acknowledged: Int64) {
    update { state in
      state.flights = [:]
      state.resumedFrom = 0
      state.progress = UploadProgress(sent: acknowledged, acknowledged: acknowledged, total: total)
    }
  }

  func newFlight() -> Int {
    state.withLock { state in
      state.last += 1  // checked: a counter of this process
      return state.last
    }
  }

  func move(_ flight: Int, to position: Int64) {
    update { $0.flights[flight] = position }
  }

  /// The server has so many bytes in all; what was on its way has arrived or is lost.
  func acknowledge(_ bytes: Int64) {
    update { state in
      state.flights = [:]
      state.progress.acknowledged = bytes
    }
  }

  /// What was on its way has ended, and the server has so many more bytes.
  func land(_ flight: Int, bytes: Int64) {
    update { state in
      state.flights[flight] = nil
      state.add(bytes)
    }
  }

  /// The server has more, or less, than was thought; nothing of that is on its way.
  func correct(by bytes: Int64) {
    update { state in
      state.flights = [:]
      state.add(bytes)
    }
  }

  private func update(_ change: (inout State) -> Void) {
    let progress = state.withLock { state in
      change(&state)
      let flying = state.flights.values.reduce(state.progress.acknowledged) { $0.saturatingSum($1) }
      state.progress.sent = min(flying, state.progress.total ?? .max)
      return state.progress
    }
    changed(progress)
  }
}

extension RequestURL {
  /// Origin and path: what a ledger knows a target by. A query may hold a signature of today.
  var ledgerTarget: String { origin + path }
}
