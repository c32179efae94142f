import Synchronization

/// The last progress, and the handlers that observe it.
final class UploadProgressTracker: Sendable {
  private let state = Mutex((progress: UploadProgress(), observers: [@Sendable (UploadProgress) -> Void]()))

  var progress: UploadProgress { state.withLock { $0.progress } }

  func observe(_ observer: @escaping @Sendable (UploadProgress) -> Void) {
    state.withLock { $0.observers.append(observer) }
  }

  func show(_ progress: UploadProgress) {
    let observers = state.withLock { state in
      state.progress = progress
      return state.observers
    }
    for observer in observers { observer(progress) }
  }
}
