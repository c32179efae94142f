import FoundationEssentials
import WireValues

/// `Retry-After`: seconds or an HTTP date (RFC 9110 §10.2.3).
enum RetryAfter {
  /// The delay from `now`; `nil` for invalid text and negative numbers. A date in the past is a delay of zero.
  static func delay(from value: String, now: Date) -> Duration? {
    guard value.utf8.count <= HTTPDate.maximumBytes else { return nil }
    let text = value.trimmingBlanks()
    if !text.isEmpty, text.utf8.allSatisfy({ (0x30...0x39).contains($0) }) {
      // A number that does not fit means a very long delay; the policy limits it.
      return .seconds(min(CheckedNumber(digits: text).value ?? .max, 366 * 86400))
    }
    guard let date = HTTPDate.parse(String(text)) else { return nil }
    return .seconds(max(0, date.timeIntervalSince(now)))
  }
}
