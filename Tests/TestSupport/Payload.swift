import Digests
import Foundation

/// Content of any size that is never completely in memory: pseudo-random bytes from a seed, or given bytes.
///
/// Each block of 4 KiB starts with its own number, so a block at a wrong place, or from another seed, changes the
/// digest. Two payloads with the same seed and size have the same bytes in every run.
public struct Payload: Sendable {
  private enum Source {
    case generated(Tile)
    case literal(Data)
  }

  /// Length in bytes.
  public let size: Int64
  private let source: Source
  /// A text that differs between payloads; servers use it in their ETag.
  public let name: String

  public init(size: Int64, seed: UInt64 = 1) {
    precondition(size >= 0)
    self.size = size
    source = .generated(Tile(seed: seed))
    name = "\(String(seed, radix: 16))-\(String(size, radix: 16))"
  }

  public init(_ data: Data) {
    size = Int64(data.count)
    source = .literal(data)
    name = String(HashFunction.sha256.digest(of: data).hexadecimal.prefix(16))
  }

  /// The bytes of a range, which must lie within the payload.
  public func bytes(_ range: Range<Int64>) -> Data {
    precondition(range.lowerBound >= 0 && range.upperBound <= size)
    switch source {
    case .literal(let data):
      let start = data.startIndex + Int(range.lowerBound)
      return Data(data[start..<start + range.count])
    case .generated(let tile):
      return tile.bytes(range)
    }
  }

  /// All the bytes. For payloads that fit in memory.
  public var data: Data { bytes(0..<size) }

  /// The SHA-256 of all bytes in lower-case hexadecimal; computed at each call, a piece at a time.
  public var sha256: String { digest(.sha256).hexadecimal }

  /// The digest of all bytes by any hash function, computed a piece at a time.
  public func digest(_ function: HashFunction) -> Data {
    var hash = IncrementalHash(function)
    forEachPiece { hash.update($0) }
    return Data(hash.finalize())
  }

  /// Writes all bytes to a new file at `path`.
  public func write(to path: String) throws {
    guard FileManager.default.createFile(atPath: path, contents: nil) else {
      throw TestSupportError.system(call: "create \(path)", code: errno)
    }
    let file = try FileHandle(forWritingTo: URL(fileURLWithPath: path))
    try forEachPiece { try file.write(contentsOf: $0) }
    try file.close()
  }

  private func forEachPiece(_ body: (Data) throws -> Void) rethrows {
    for piece in (0..<size).pieces(of: 1 << 20) { try body(bytes(piece)) }
  }
}

extension Range<Int64> {
  /// The range cut into pieces of at most `length`.
  func pieces(of length: Int64) -> some Sequence<Range<Int64>> {
    stride(from: lowerBound, to: upperBound, by: Int64.Stride(length)).lazy.map {
      $0..<Swift.min($0 + length, upperBound)
    }
  }
}

/// One MiB of noise that is repeated with block numbers, so that even a debug build makes gigabytes in seconds.
private struct Tile: Sendable {
  static let block = 4096
  static let blocks: Int64 = 256
  let seed: UInt64
  let noise: [UInt64]

  init(seed: UInt64) {
    self.seed = seed
    // A plain loop: hundreds of tests start here, and in a debug build `map` took 6 % of their time.
    noise = Array(unsafeUninitializedCapacity: Int(Self.blocks) * Self.block / 8) { words, count in
      while count < words.count {
        words[count] = Self.mix(seed &+ UInt64(count))
        count += 1
      }
    }
  }

  func bytes(_ range: Range<Int64>) -> Data {
    let block = Int64(Self.block)
    let first = range.lowerBound / block
    let last = (range.upperBound + block - 1) / block
    var whole = Data(capacity: max(0, Int(last - first)) * Self.block)
    noise.withUnsafeBytes { noise in
      for number in first..<max(first, last) {
        let start = Int(number % Self.blocks) * Self.block
        withUnsafeBytes(of: Self.mix(~seed &+ UInt64(number))) { whole.append(contentsOf: $0) }
        whole.append(contentsOf: UnsafeRawBufferPointer(rebasing: noise[start + 8..<start + Self.block]))
      }
    }
    let skipped = Int(range.lowerBound - first * block)
    if skipped == 0 && whole.count == range.count { return whole }
    return whole.subdata(in: skipped..<skipped + range.count)
  }

  /// The output function of SplitMix64 (Steele, Lea, Flood 2014).
  static func mix(_ number: UInt64) -> UInt64 {
    var z = number &* 0x9E37_79B9_7F4A_7C15
    z = (z ^ (z >> 30)) &* 0xBF58_476D_1CE4_E5B9
    z = (z ^ (z >> 27)) &* 0x94D0_49BB_1331_11EB
    return z ^ (z >> 31)
  }
}
