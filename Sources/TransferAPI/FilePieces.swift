public import FoundationEssentials
import WireValues

/// Digests of the pieces of a file, as a Metalink has them.
public struct FilePieces: Codable, Equatable, Sendable {
  /// `sha-256`, `sha-512`, `sha-1` or `md5`.
  public var algorithm: String
  /// Bytes of every piece except the last one.
  public var length: Int64
  /// The digests, one after the other; base64 in JSON.
  public var digests: Data

  /// The most bytes of all digests: they are part of the job's row.
  public static let maximumBytes = 256 << 10
  /// Shorter and longer pieces are refused.
  public static let lengths: ClosedRange<Int64> = 1 << 10...1 << 30

  public init(algorithm: Checksum.Algorithm, length: Int64, digests: Data) {
    self.algorithm = algorithm.rawValue
    self.length = length
    self.digests = digests
  }

  /// The bytes of one digest; `nil` for an unknown algorithm.
  private var digestBytes: Int? { Checksum.Algorithm(rawValue: algorithm)?.byteCount }

  /// The number of pieces; 0 for an unknown algorithm.
  public var count: Int { digestBytes.map { digests.count / $0 } ?? 0 }

  /// - Throws: `WireError` for digests that cannot be used.
  func check() throws(WireError) {
    guard let digestBytes else {
      throw WireError(
        text: "\(field: "pieces"): unknown algorithm \"\(algorithm)\"; use sha-256, sha-512, sha-1 or md5")
    }
    guard Self.lengths.contains(length) else {
      throw WireError(
        text:
          "the length of \(field: "pieces") must be from \(Self.lengths.lowerBound) to \(Self.lengths.upperBound) bytes"
      )
    }
    guard !digests.isEmpty, digests.count <= Self.maximumBytes, digests.count % digestBytes == 0 else {
      throw WireError(
        text: "\(field: "pieces") must have 1 or more whole digests, together at most \(Self.maximumBytes) bytes")
    }
  }

  /// Whether a file of this size has exactly these pieces; they have been checked.
  public func cover(_ size: Int64) -> Bool {
    // checked: few digests, times a length of at most 1 GiB
    count > 0 && size > Int64(count - 1) * length && size <= Int64(count) * length
  }
}

extension FilePieces: CustomStringConvertible {
  public var description: String { "\(count) of \(length) bytes (\(algorithm))" }
}
