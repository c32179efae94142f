import WireValues

/// A duration as people write it: `30`, `30s`, `5m`, `2h`, `500ms`; more than 0.
public struct TimeSpan: Codable, Equatable, Sendable {
  public let seconds: Double

  public init?(seconds: Double) {
    guard seconds > 0, seconds <= 366 * 86400 else { return nil }
    self.seconds = seconds
  }

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
    self.init(seconds: number * factor)
  }

  public var duration: Duration { .seconds(seconds) }

  public init(from decoder: any Decoder) throws {
    let container = try decoder.singleValueContainer()
    let parsed =
      if let number = try? container.decode(Double.self) { TimeSpan(seconds: number) } else {
        TimeSpan(try container.decode(String.self))
      }
    guard let parsed else { throw WireError("a duration is like 30, 30s, 5m or 2h, more than 0") }
    self = parsed
  }

  public func encode(to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    try container.encode(seconds)
  }
}

/// Digits with at most one point: no sign, exponent, `inf` or `nan`, which `Double.init` would take.
func decimal(_ text: Substring) -> Double? {
  guard !text.isEmpty, text.allSatisfy({ $0.isASCII && ($0.isNumber || $0 == ".") }) else { return nil }
  return Double(text)
}
