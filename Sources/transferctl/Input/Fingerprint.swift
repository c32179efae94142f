/// A checksum that detects whether bytes have changed when they are read again. Not cryptographic: it detects changes
/// by accident or by another program.
struct Fingerprint: Equatable, Sendable {
  private var value: UInt64 = 0xCBF2_9CE4_8422_2325
  /// Bytes so far.
  private(set) var count: Int64 = 0

  mutating func update(_ bytes: ArraySlice<UInt8>) {
    bytes.withUnsafeBytes { bytes in
      var position = 0
      while bytes.count - position >= 8 {  // checked: an index of the bytes
        mix(bytes.loadUnaligned(fromByteOffset: position, as: UInt64.self))
        position += 8  // checked: an index of the bytes
      }
      while position < bytes.count {
        mix(UInt64(bytes[position]))
        position += 1  // checked: an index of the bytes
      }
    }
    count += Int64(bytes.count)  // checked: bytes that were read
  }

  /// Each step is a bijection of the old value, so that a difference stays one.
  private mutating func mix(_ word: UInt64) {
    value = (value ^ word) &* 0x9E37_79B9_7F4A_7C15
    value ^= value >> 29
  }
}
