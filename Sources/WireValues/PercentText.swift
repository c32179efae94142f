/// Percent-encoded text. RFC 3986 §2.1
extension StringProtocol {
  /// The bytes that the text stands for; `nil` if a percent sign is not followed by two hexadecimal digits.
  @inlinable public var percentDecodedBytes: [UInt8]? { PercentEscapes.decoded(Array(utf8), keepsInvalid: false) }

  /// The text that this text stands for; `nil` for invalid escapes and for bytes that are not UTF-8.
  @inlinable public var percentDecoded: String? {
    guard utf8.contains(UInt8(ascii: "%")) else { return String(self) }
    return percentDecodedBytes.flatMap { String(validating: $0, as: UTF8.self) }
  }

  /// The text with `%XX`, in upper case, for every byte that is not kept.
  @inlinable public func percentEncoded(keeping isKept: (UInt8) -> Bool) -> String {
    var bytes: [UInt8] = []
    for byte in utf8 {
      if isKept(byte) { bytes.append(byte) } else { PercentEscapes.append(byte, to: &bytes) }
    }
    return String(decoding: bytes, as: UTF8.self)
  }
}

extension UInt8 {
  /// Whether this is a letter, a digit or one of `-._~`, which never need an escape. RFC 3986 §2.3
  @inlinable public var isUnreserved: Bool {
    switch self {
    case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
      UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"),
      UInt8(ascii: "~"):
      true
    default: false
    }
  }
}

/// Reads and writes `%XX`.
public enum PercentEscapes {
  /// - Parameter keepsInvalid: a percent sign without two hexadecimal digits stands for itself; otherwise it makes the result
  ///   `nil`.
  public static func decoded(_ bytes: [UInt8], keepsInvalid: Bool) -> [UInt8]? {
    var plain: [UInt8] = []
    plain.reserveCapacity(bytes.count)
    var rest = bytes[...]
    while let byte = rest.popFirst() {
      if byte == UInt8(ascii: "%"), let high = rest.first?.hexDigitValue,
        let low = rest.dropFirst().first?.hexDigitValue
      {
        plain.append(high << 4 | low)
        rest = rest.dropFirst(2)
      } else if byte != UInt8(ascii: "%") || keepsInvalid {
        plain.append(byte)
      } else {
        return nil
      }
    }
    return plain
  }

  private static let digits = Array("0123456789ABCDEF".utf8)

  /// Appends the escape of this byte.
  public static func append(_ byte: UInt8, to bytes: inout [UInt8]) {
    bytes += [UInt8(ascii: "%"), digits[Int(byte >> 4)], digits[Int(byte & 15)]]
  }
}
