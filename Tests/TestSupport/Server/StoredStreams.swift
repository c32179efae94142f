import Foundation

/// Wraps bytes as brotli (RFC 7932) in uncompressed meta-blocks.
public func brotli(_ data: Data) -> Data {
  var stream = Data()
  var rest = data[...]
  var isFirst = true
  while !rest.isEmpty {
    let block = rest.prefix(1 << 16)
    rest = rest.dropFirst(block.count)
    // From the lowest bit: a window of 64 KiB (only before the first), not the last, 4 nibbles, length, uncompressed.
    var bits = UInt32(block.count - 1) << 3 | 1 << 19
    if isFirst { bits <<= 1 }
    isFirst = false
    stream.append(contentsOf: [UInt8(bits & 0xFF), UInt8(bits >> 8 & 0xFF), UInt8(bits >> 16 & 0xFF)])
    stream.append(block)
  }
  stream.append(isFirst ? 0b110 : 0b11)  // the last one, empty
  return stream
}

/// Wraps bytes as zstd (RFC 8878) in raw blocks.
public func zstandard(_ data: Data) -> Data {
  // Magic number; no checksum, no size, a window of 1 MiB.
  var stream = Data([0x28, 0xB5, 0x2F, 0xFD, 0x00, 10 << 3])
  var rest = data[...]
  repeat {
    let block = rest.prefix(1 << 17)
    rest = rest.dropFirst(block.count)
    let head = UInt32(block.count) << 3 | (rest.isEmpty ? 1 : 0)
    stream.append(contentsOf: [UInt8(head & 0xFF), UInt8(head >> 8 & 0xFF), UInt8(head >> 16 & 0xFF)])
    stream.append(block)
  } while !rest.isEmpty
  return stream
}

/// Wraps bytes as raw deflate (RFC 1951), in stored blocks.
public func rawDeflate(_ data: Data) -> Data {
  // gzip's stored blocks are between a head of 10 bytes and a tail of 8.
  gzip(data).dropFirst(10).dropLast(8)
}

/// Wraps bytes as zlib (RFC 1950), in stored blocks.
public func zlib(_ data: Data) -> Data {
  var (a, b): (UInt32, UInt32) = (1, 0)
  for byte in data {
    a = (a + UInt32(byte)) % 65521
    b = (b + a) % 65521
  }
  let check = b << 16 | a
  return Data([0x78, 0x01]) + rawDeflate(data) + withUnsafeBytes(of: check.bigEndian) { Data($0) }
}
