import Synchronization

/// Passes values to an asynchronous function, one call at a time. Values that are added during a call are passed together in the
/// next one. All calls are made with the function of the first.
final class CombinedCalls<Value: Sendable>: Sendable {
  private struct State {
    var values: [Value] = []
    var isCalling = false
  }
  private let state = Mutex(State())

  func add(_ values: [Value], _ call: @escaping @Sendable ([Value]) async -> Void) {
    let mustStart = state.withLock { state in
      state.values.append(contentsOf: values)
      defer { state.isCalling = true }
      return !state.isCalling
    }
    guard mustStart else { return }
    Task {
      while let values = self.takeValues() { await call(values) }
    }
  }

  private func takeValues() -> [Value]? {
    state.withLock { state in
      guard !state.values.isEmpty else {
        state.isCalling = false
        return nil
      }
      defer { state.values = [] }
      return state.values
    }
  }
}
