import Synchronization

/// The name that a file has got, which is chosen on another thread.
final class LandedName: Sendable {
  private let value: Mutex<String>

  /// - Parameter name: before the rename.
  init(_ name: String) { value = Mutex(name) }

  var name: String {
    get { value.withLock { $0 } }
    set { value.withLock { $0 = newValue } }
  }
}
