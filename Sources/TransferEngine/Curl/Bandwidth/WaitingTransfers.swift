/// The transfers of one loop that wait for bandwidth. Used on the loop's thread only.
final class WaitingTransfers {
  /// Milliseconds of an hour: nothing waits.
  static let forever = Int32(3_600_000)

  private var transfers: [Transfer] = []
  private var dueAt: ContinuousClock.Instant?

  /// - Parameter due: when there may be bandwidth for it.
  func append(_ transfer: Transfer, due: ContinuousClock.Instant) {
    transfers.append(transfer)
    dueAt = min(dueAt ?? due, due)
  }

  /// The transfers, if it is time to ask for bandwidth again; those that have to wait longer are appended again.
  func due() -> [Transfer] {
    guard let dueAt, dueAt <= .now else { return [] }
    self.dueAt = nil
    defer { transfers = [] }
    return transfers
  }

  /// Milliseconds until transfers are due.
  var pause: Int32 {
    guard let dueAt else { return Self.forever }
    return Int32(clamping: (ContinuousClock.now.duration(to: dueAt) + .microseconds(999)).wholeMilliseconds)
  }
}
