import Synchronization

/// A gate in a body: while it is closed, no more than `allowance` bytes are sent.
final class UploadGate: Sendable {
  /// Bytes that may be sent before the upload's URL is recorded.
  static let allowance: Int64 = 1 << 20

  private let state = Mutex((isShut: false, isHolding: false))

  func shut() { state.withLock { $0.isShut = true } }

  /// Opens the gate. Returns whether the transfer waits and has to be unpaused.
  func open() -> Bool {
    state.withLock { state in
      defer { state = (false, false) }
      return state.isHolding
    }
  }

  func holds(at position: Int64) -> Bool {
    state.withLock { state in
      guard state.isShut, position >= Self.allowance else { return false }
      state.isHolding = true
      return true
    }
  }
}
