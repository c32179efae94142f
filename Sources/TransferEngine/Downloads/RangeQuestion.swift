/// The range of a file that a request asks for.
struct RangeQuestion: Equatable, Sendable {
  /// The first byte that is requested; 0 without a `Range` field.
  var start: Int64
  /// The offset of the first byte that is missing, to which the response is appended. More than `start` if the last of them are fetched again.
  var bytesOnDisk: Int64
  /// The value of `If-Range`.
  var condition: String?
  /// The version at the destination: the file is requested only if the server has another one. Never together with a range.
  var unless: Validators?

  /// The offset after the last byte that is requested; `nil`: the file's end. With it, even a question that starts at 0 asks
  /// for a range.
  var end: Int64?

  /// The whole file, unconditionally.
  static let whole = RangeQuestion(start: 0, bytesOnDisk: 0)

  var isRanged: Bool { bytesOnDisk > 0 || end != nil }
  /// Bytes fetched again to compare them with the disk.
  var overlap: Int64 { bytesOnDisk - start }  // checked: 0 ≤ start ≤ bytesOnDisk wherever a question is made
}
