import Foundation

/// Wraps bytes as gzip (RFC 1952) in stored blocks, without compression.
public func gzip(_ data: Data) -> Data {
  var stream = gzipHeader
  var rest = data[...]
  repeat {
    let block = rest.prefix(0xFFFF)
    rest = rest.dropFirst(block.count)
    stream.append(rest.isEmpty ? 1 : 0)
    stream.append(littleEndian: UInt16(block.count))
    stream.append(littleEndian: ~UInt16(block.count))
    stream.append(block)
  } while !rest.isEmpty
  stream.append(littleEndian: crc32(data))
  stream.append(littleEndian: UInt32(truncatingIfNeeded: data.count))
  return stream
}

/// A gzip stream that expands to `size` zeros, 258 for each 13 bits (RFC 1951 §3.2.6).
///
/// Its checksum is wrong: a reader that gets that far has already failed the test.
public func gzipBomb(unfoldingTo size: Int) -> Data {
  var bits = BitWriter()
  bits.append(0b011, count: 3)  // last block, fixed Huffman codes
  bits.append(0b0000_1100, count: 8)  // the literal 0, its code reversed
  for _ in 0..<size / 258 {
    bits.append(0b1010_0011, count: 8)  // length 258, its code reversed
    bits.append(0, count: 5)  // distance 1
  }
  bits.append(0, count: 7)  // end of block
  var stream = gzipHeader + bits.bytes
  stream.append(littleEndian: UInt32(0))
  stream.append(littleEndian: UInt32(truncatingIfNeeded: size / 258 * 258 + 1))
  return stream
}

private let gzipHeader = Data([0x1F, 0x8B, 8, 0, 0, 0, 0, 0, 0, 0xFF])

/// Packs bits into bytes, lowest first, as deflate does.
private struct BitWriter {
  private var full = Data()
  private var pending: UInt32 = 0
  private var count = 0

  mutating func append(_ bits: UInt32, count added: Int) {
    pending |= bits << UInt32(count)
    count += added
    while count >= 8 {
      full.append(UInt8(truncatingIfNeeded: pending))
      pending >>= 8
      count -= 8
    }
  }

  var bytes: Data { count > 0 ? full + [UInt8(truncatingIfNeeded: pending)] : full }
}

private let crcTable: [UInt32] = (0..<256).map { byte in
  (0..<8).reduce(UInt32(byte)) { crc, _ in crc & 1 == 1 ? (crc >> 1) ^ 0xEDB8_8320 : crc >> 1 }
}

private func crc32(_ data: Data) -> UInt32 {
  let table = crcTable
  return ~data.reduce(~UInt32(0)) { crc, byte in
    table[Int(UInt8(truncatingIfNeeded: crc) ^ byte)] ^ (crc >> 8)
  }
}

extension Data {
  fileprivate mutating func append<Number: FixedWidthInteger>(littleEndian number: Number) {
    Swift.withUnsafeBytes(of: number.littleEndian) { append(contentsOf: $0) }
  }
}
