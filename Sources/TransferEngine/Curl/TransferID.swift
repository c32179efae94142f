import Synchronization

/// Identifies a transfer before it begins, so that it can be cancelled at any moment.
struct TransferID: Hashable, Sendable {
  private let value: ObjectIdentifier
  private let anchor: Anchor

  private final class Anchor: Sendable {
    let isCancelled = Atomic(false)
    let isHeld: (@Sendable () -> Bool)?

    init(_ isHeld: (@Sendable () -> Bool)?) { self.isHeld = isHeld }
  }

  /// Prevents the transfer from starting; `TransferLoop.cancel` cannot find a transfer that has not started.
  func cancel() { anchor.isCancelled.store(true, ordering: .releasing) }

  var isCancelled: Bool { anchor.isCancelled.load(ordering: .acquiring) }

  /// Whether the request is suspended now.
  var isHeld: Bool { anchor.isHeld?() ?? false }

  /// - Parameter isHeld: whether the transfer has to be held.
  init(isHeld: (@Sendable () -> Bool)? = nil) {
    anchor = Anchor(isHeld)
    value = ObjectIdentifier(anchor)
  }

  static func == (lhs: TransferID, rhs: TransferID) -> Bool { lhs.value == rhs.value }
  func hash(into hasher: inout Hasher) { hasher.combine(value) }
}
