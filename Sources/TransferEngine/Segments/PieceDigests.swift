import Digests
import WireValues

/// Digests of the pieces of a file, such as a Metalink has. They tell which bytes of a file are wrong.
public struct PieceDigests: Sendable, Equatable {
  /// Shorter pieces are refused: each of them costs a step of the check.
  public static let minimumLength: Int64 = 1 << 10
  /// Longer pieces are refused: they would be checked too late.
  public static let maximumLength: Int64 = 1 << 30
  /// More pieces are refused.
  public static let maximumCount = 1 << 20

  /// Of all digests.
  public let algorithm: DigestAlgorithm
  /// Bytes of every piece except the last one, which may be shorter.
  public let length: Int64
  /// The digests, one after the other.
  private let bytes: [UInt8]

  /// - Parameter digests: the digests, one after the other.
  /// - Returns: `nil` if the bytes are not one or more digests, or if a number is out of bounds.
  public init?(_ algorithm: DigestAlgorithm, length: Int64, digests: [UInt8]) {
    guard (Self.minimumLength...Self.maximumLength).contains(length), !digests.isEmpty,
      // checked: sizes of digests are positive
      digests.count % algorithm.size == 0, digests.count / algorithm.size <= Self.maximumCount
    else { return nil }
    self.algorithm = algorithm
    self.length = length
    bytes = digests
  }

  /// The number of pieces.
  public var count: Int { bytes.count / algorithm.size }  // checked: sizes of digests are positive

  /// Whether a file of this length has exactly these pieces.
  public func cover(_ total: Int64) -> Bool {
    // checked: at most `maximumCount` pieces of at most `maximumLength` bytes
    total > Int64(count - 1) * length && total <= Int64(count) * length
  }

  /// The length of the longest file with these pieces.
  var largestTotal: Int64 { Int64(count) * length }  // checked: as in `cover`

  /// The digest of a piece in lower-case hexadecimal digits.
  func hex(_ piece: Int) -> String {
    let start = piece * algorithm.size  // checked: an index of the digests
    return bytes[start..<start + algorithm.size].hex  // checked: as above
  }

  /// The bytes of a piece of a file with this length.
  func range(_ piece: Int, total: Int64) -> Range<Int64> {
    let start = Int64(piece) * length  // checked: at most the total, by `cover`
    return start..<min(start + length, total)  // checked: as above
  }

  /// The pieces that have bytes of a range, which is not empty.
  func pieces(in range: Range<Int64>) -> ClosedRange<Int> {
    // checked: offsets within a file of `maximumCount` pieces; the range is not empty
    Int(range.lowerBound / length)...Int((range.upperBound - 1) / length)
  }
}
