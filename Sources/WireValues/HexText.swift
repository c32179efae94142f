extension UInt8 {
  /// The value of an ASCII hexadecimal digit; `nil` for any other byte.
  @inlinable public var hexDigitValue: UInt8? {
    switch self {
    case UInt8(ascii: "0")...UInt8(ascii: "9"): self & 0x0F
    case UInt8(ascii: "a")...UInt8(ascii: "f"), UInt8(ascii: "A")...UInt8(ascii: "F"):
      (self & 0x0F) + 9  // checked: at most 15
    default: nil
    }
  }
}

extension Array<UInt8> {
  /// The bytes that pairs of hexadecimal digits stand for; `nil` for any other text.
  public init?(hex text: some StringProtocol) {
    self.init()
    var rest = Array(text.utf8)[...]
    while let digit = rest.popFirst() {
      guard let high = digit.hexDigitValue, let low = rest.popFirst()?.hexDigitValue else { return nil }
      append(high << 4 | low)
    }
  }
}
