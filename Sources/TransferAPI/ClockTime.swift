import WireValues

/// A time of day as people write it: `08:00`.
public enum ClockTime {
  /// Minutes since midnight; 1440 for `24:00`, the end of the day; `nil` for any other text.
  public static func minute(_ text: some StringProtocol) -> Int? {
    let bytes = Array(text.utf8)
    guard bytes.count == 5, bytes[2] == UInt8(ascii: ":"),
      (bytes[..<2] + bytes[3...]).allSatisfy(\.isASCIIDigit),
      let hour = Int(text.prefix(2)), let minute = Int(text.suffix(2)), minute < 60,
      hour < 24 || hour == 24 && minute == 0
    else { return nil }
    return hour * 60 + minute  // checked: at most 24 hours
  }
}
