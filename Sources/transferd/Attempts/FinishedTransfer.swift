import TransferAPI

/// An attempt whose bytes have all arrived: the file may not have its name yet.
struct FinishedTransfer: Equatable, Sendable {
  /// The largest small file, in bytes. Small files share their work, and an origin may have more of them at once.
  static let smallFile: Int64 = 1 << 20

  let job: JobID
  /// The fence of the claim under which the attempt ran.
  let fence: Int64
  /// Whether the file is larger than `smallFile`.
  let isLarge: Bool
}
