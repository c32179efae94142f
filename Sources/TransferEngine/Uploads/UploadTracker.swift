import Synchronization
import WireValues

/// The progress of an upload with several transfers at the same time.
final class UploadTracker: Sendable {
  private let state: Mutex<State>
  private let changed: @Sendable (UploadProgress) -> Void

  private struct State {
    var progress: UploadProgress
    var inFlight: [Int: Int64] = [:]
    var last = 0
    var resumedFrom: Int64 = 0

    /// Limits what servers claim to what can be sent.
    mutating func add(_ bytes: Int64) {
      progress.acknowledged = min(max(0, progress.acknowledged.saturatingSum(bytes)), progress.total ?? .max)
    }
  }

  init(_ changed: @escaping @Sendable (UploadProgress) -> Void) {
    self.changed = changed
    state = Mutex(State(progress: UploadProgress()))
  }

  var progress: UploadProgress { state.withLock { $0.progress } }
  /// Bytes that the server reported at the start of this attempt.
  var resumedFrom: Int64 { state.withLock { $0.resumedFrom } }

  func resume(from bytes: Int64) {
    state.withLock { $0.resumedFrom = bytes }
    acknowledge(bytes)
  }

  func start(total: Int64, acknowledged: Int64) {
    update { state in
      state.inFlight = [:]
      state.resumedFrom = 0
      state.progress = UploadProgress(sent: acknowledged, acknowledged: acknowledged, total: total)
    }
  }

  func newTransfer() -> Int {
    state.withLock { state in
      state.last += 1  // checked: a counter of this process
      return state.last
    }
  }

  func move(_ transfer: Int, to position: Int64) {
    update { $0.inFlight[transfer] = position }
  }

  /// The server has this many bytes in all; bytes in flight have arrived or are lost.
  func acknowledge(_ bytes: Int64) {
    update { state in
      state.inFlight = [:]
      state.progress.acknowledged = bytes
    }
  }

  /// A transfer has ended, and the server has this many more bytes.
  func end(_ transfer: Int, bytes: Int64) {
    update { state in
      state.inFlight[transfer] = nil
      state.add(bytes)
    }
  }

  /// The server has more or fewer bytes than assumed; none of them are in flight.
  func correct(by bytes: Int64) {
    update { state in
      state.inFlight = [:]
      state.add(bytes)
    }
  }

  private func update(_ change: (inout State) -> Void) {
    let progress = state.withLock { state in
      change(&state)
      let flying = state.inFlight.values.reduce(state.progress.acknowledged) { $0.saturatingSum($1) }
      state.progress.sent = min(flying, state.progress.total ?? .max)
      return state.progress
    }
    changed(progress)
  }
}

extension RequestURL {
  /// Origin and path: the ledger's name for a target. A query may contain a signature that changes every day.
  var ledgerTarget: String { origin + path }
}
