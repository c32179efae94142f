import HTTPTypes
import WireValues

/// The range of a file that a request asks for.
struct RangeQuestion: Equatable, Sendable {
  /// The first byte that is requested; 0 without a `Range` field.
  var start: Int64
  /// Bytes on disk, to which the response is appended. More than `start` if the last of them are fetched again.
  var bytesOnDisk: Int64
  /// The value of `If-Range`.
  var condition: String?

  /// The whole file, unconditionally.
  static let whole = RangeQuestion(start: 0, bytesOnDisk: 0)

  var isRanged: Bool { bytesOnDisk > 0 }
  /// Bytes fetched again to compare them with the disk.
  var overlap: Int64 { bytesOnDisk - start }  // checked: 0 ≤ start ≤ bytesOnDisk wherever a question is made
}
