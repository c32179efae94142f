/// Finds texts that take Swift long to compare. Pure.
///
/// Two texts are equal if they have the same marks in any order that looks the same, so Swift sorts all marks that follow
/// a letter. The time grows with the square of their number: 64,000 of them in a field name took seconds.
public enum CombiningMarks {
  /// The most marks in a row: as many as a file name of 255 bytes can have. Languages need a few.
  static let maximum = 127

  public static let refusal = "a text has more than \(maximum) combining marks in a row"

  /// Whether a text has more marks in a row than are taken, also as escapes of JSON.
  /// - Parameter text: UTF-8; it need not be valid.
  public static func areTooMany(in text: UnsafeRawBufferPointer) -> Bool {
    guard text.contains(where: { $0 >= 0x80 || $0 == UInt8(ascii: "\\") }) else { return false }
    var count = 0
    var high: UInt32?
    var scalars = String(decoding: text, as: UTF8.self).unicodeScalars.makeIterator()
    while let scalar = scalars.next() {
      var value = scalar.value
      if scalar == "\\" {
        guard scalars.next() == "u" else {
          (count, high) = (0, nil)
          continue
        }
        value = hexadecimal(&scalars)
      }
      switch (value, high) {
      case (0xD800..<0xDC00, _):
        high = value
        continue
      case (0xDC00..<0xE000, let first?):
        value = 0x10000 + (first & 0x3FF) << 10 + (value & 0x3FF)  // checked: at most 0x10FFFF
      default: break
      }
      high = nil
      count = isMark(value) ? count + 1 : 0  // checked: at most the maximum and one
      if count > maximum { return true }
    }
    return false
  }

  /// The four digits after `\u`; 0 if they are none.
  private static func hexadecimal(_ scalars: inout String.UnicodeScalarView.Iterator) -> UInt32 {
    var value: UInt32 = 0
    for _ in 0..<4 {
      guard let digit = scalars.next().flatMap({ Character($0).hexDigitValue }) else { return 0 }
      value = value << 4 | UInt32(digit)
    }
    return value
  }

  private static func isMark(_ value: UInt32) -> Bool {
    // These consist of marks, although they are none themselves (UAX #15 §13).
    if value == 0x0F73 || value == 0x0F75 || value == 0x0F81 { return true }
    guard value >= 0x300, let scalar = Unicode.Scalar(value) else { return false }
    return scalar.properties.canonicalCombiningClass != .notReordered
  }
}
