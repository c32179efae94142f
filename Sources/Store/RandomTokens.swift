import Glibc

/// Random tokens for many jobs: one system call for 64 of them.
struct RandomTokens {
  private var bytes: [UInt8] = []

  /// 8 random hexadecimal digits.
  mutating func next() -> String {
    if bytes.isEmpty { bytes = Self.randomBytes() }
    let digits: [UInt8] = Array("0123456789abcdef".utf8)
    let token = bytes.suffix(4)
    defer { bytes.removeLast(4) }
    return String(unsafeUninitializedCapacity: 8) { buffer in
      var index = 0
      for byte in token {
        buffer[index] = digits[Int(byte >> 4)]
        buffer[index + 1] = digits[Int(byte & 15)]
        index += 2
      }
      return 8
    }
  }

  private static func randomBytes() -> [UInt8] {
    // 256 bytes are the most that getentropy(3) takes at once.
    var bytes = [UInt8](repeating: 0, count: 256)
    let isFilled = bytes.withUnsafeMutableBytes { getentropy($0.baseAddress, $0.count) } == 0
    guard isFilled else { return bytes.map { _ in UInt8.random(in: .min ... .max) } }
    return bytes
  }
}
