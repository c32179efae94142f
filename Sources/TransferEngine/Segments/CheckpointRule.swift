/// When a checkpoint of a running download is due. Pure but for the clock.
enum CheckpointRule {
  /// Bytes that may arrive before the record that makes them resumable is durable.
  static let unrecordedLimit: Int64 = 1 << 20
  /// A checkpoint is due after this much, or after `interval` if there is something worth it.
  static let bytes: Int64 = 64 << 20
  static let interval = Duration.seconds(2)

  /// - Parameters:
  ///   - bytes: written since the last checkpoint was asked for.
  ///   - since: when that was.
  static func isDue(bytes: Int64, since: ContinuousClock.Instant) -> Bool {
    bytes >= Self.bytes || bytes >= unrecordedLimit / 4 && since.duration(to: .now) >= interval
  }
}
