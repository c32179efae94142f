import WireValues

/// A rate as people write it: `500`, `64K`, `1.5M`, `2G` (binary) bytes a second; 1 or more.
public struct ByteRate: Codable, Equatable, Sendable {
  public let bytesPerSecond: Int64

  public init?(bytesPerSecond: Int64) {
    guard bytesPerSecond > 0 else { return nil }
    self.bytesPerSecond = bytesPerSecond
  }

  public init?(_ text: String) {
    var digits = Substring(text)
    var factor = 1.0
    if let suffix = digits.last, !suffix.isNumber {
      switch suffix {
      case "K", "k": factor = 1024
      case "M", "m": factor = 1024 * 1024
      case "G", "g": factor = 1024 * 1024 * 1024
      default: return nil
      }
      digits.removeLast()
    }
    guard let number = decimal(digits) else { return nil }
    guard let rate = CheckedNumber(rounding: (number * factor).rounded(.down)).value else { return nil }
    self.init(bytesPerSecond: rate)
  }

  public init(from decoder: any Decoder) throws {
    let container = try decoder.singleValueContainer()
    let parsed =
      if let number = try? container.decode(Int64.self) { ByteRate(bytesPerSecond: number) } else {
        ByteRate(try container.decode(String.self))
      }
    guard let parsed else {
      throw WireError("a rate is a number of bytes a second, 1 or more, with K, M or G")
    }
    self = parsed
  }

  public func encode(to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    try container.encode(bytesPerSecond)
  }
}

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
private func decimal(_ text: Substring) -> Double? {
  guard !text.isEmpty, text.allSatisfy({ $0.isASCII && ($0.isNumber || $0 == ".") }) else { return nil }
  return Double(text)
}
