import Synchronization

/// Counts the bytes of a body that libcurl has taken. It outlives the transfer.
final class UploadMeter: Sendable {
  private let position = Atomic<Int64>(0)
  private let moved: @Sendable (Int64) -> Void

  init(_ moved: @escaping @Sendable (Int64) -> Void) { self.moved = moved }

  /// Bytes taken since the body was last rewound.
  var taken: Int64 { position.load(ordering: .acquiring) }

  func move(to position: Int64) {
    self.position.store(position, ordering: .releasing)
    moved(position)
  }
}
