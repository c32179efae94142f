/// How a transfer shares connections: those of one origin in the same lane wait for each other.
enum TransferLane: Equatable, Sendable {
  case downloads, uploads
  /// It waits for no other.
  case alone
}
