import WireValues

/// A duration as people write it: `30`, `30s`, `5m`, `2h`, `500ms`; more than 0.
public struct TimeSpan: Equatable, Sendable {
  public let seconds: Double

  public init?(_ text: String) {
    var digits = Substring(text)
    var factor = 1.0
    if digits.hasSuffix("ms") {
      factor = 0.001
      digits.removeLast(2)
    } else if let suffix = digits.last, !suffix.isNumber {
      switch suffix {
      case "s": factor = 1
      case "m": factor = 60
      case "h": factor = 3600
      case "d": factor = 86400
      default: return nil
      }
      digits.removeLast()
    }
    guard let number = decimal(digits) else { return nil }
    self.init(number: number * factor)
  }

  public var duration: Duration { .seconds(seconds) }
}

extension TimeSpan {
  /// - Throws: `WireError` that says what a duration is like.
  public init(parsing text: String) throws(WireError) {
    guard let duration = TimeSpan(text) else { throw WireError(Self.expected) }
    self = duration
  }
}

extension TimeSpan: Codable, Quantity {
  var number: Double { seconds }

  init?(number: Double) {
    guard number > 0, number <= 366 * 86400 else { return nil }
    seconds = number
  }

  static let expected = "a duration is like 30, 30s, 5m or 2h, more than 0 and at most 366 days"
}

/// Digits with at most one point: no sign, exponent, `inf` or `nan`, which `Double.init` would take.
func decimal(_ text: Substring) -> Double? {
  guard !text.isEmpty, text.allSatisfy({ $0.isASCII && ($0.isNumber || $0 == ".") }) else { return nil }
  return Double(text)
}
