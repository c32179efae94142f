import WireValues

/// Formats numbers for the user, with binary units and a decimal point in every locale.
enum HumanNumbers {
  /// `512 B`, `1.4 GiB`
  static func size(_ bytes: Int64) -> String {
    guard bytes >= 1024 else { return "\(max(0, bytes)) B" }
    var value = Double(bytes)
    var unit = 0
    let units = ["B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"]
    // 1023.95 would be rounded to 1024.0 of the smaller unit.
    while value >= 1023.95, unit < units.count - 1 {
      value /= 1024
      unit += 1
    }
    return "\(oneDecimal(value)) \(units[unit])"
  }

  /// `-` while unknown.
  static func size(_ bytes: Int64?) -> String { bytes.map { size($0) } ?? "-" }

  /// `3.1 MiB/s`; `-` for 0.
  static func rate(_ bytesPerSecond: Int64) -> String {
    bytesPerSecond > 0 ? size(bytesPerSecond) + "/s" : "-"  // checked: joins two texts
  }

  /// `59s`, `2m05s`, `1h02m`, `3d04h`
  static func duration(seconds: Int64) -> String {
    let seconds = max(0, seconds)
    return switch seconds {
    case ..<60: "\(seconds)s"
    case ..<3600: "\(seconds / 60)m\(two(seconds % 60))s"
    case ..<86400: "\(seconds / 3600)h\(two(seconds % 3600 / 60))m"
    case ..<(1000 * 86400): "\(seconds / 86400)d\(two(seconds % 86400 / 3600))h"
    default: ">999d"
    }
  }

  /// The time until all bytes are transferred at this rate; `-` if it is unknown.
  static func eta(done: Int64, total: Int64?, rate: Int64) -> String {
    guard let total, rate > 0, let left = (CheckedNumber(total) - done).nonNegative else { return "-" }
    return duration(seconds: (left / rate).saturatingSum(left % rate == 0 ? 0 : 1))
  }

  /// 0…100, never 100 before the last byte; `nil` while the total is unknown.
  static func percent(done: Int64, total: Int64?) -> Int? {
    guard let total, total >= 0 else { return nil }
    if done >= total { return 100 }
    guard total > 0 else { return 0 }
    return CheckedNumber(rounding: (Double(max(0, done)) / Double(total) * 100).rounded(.down)).int.map { min(99, $0) }
  }

  /// `1 file`, `3 files`
  static func files(_ count: Int) -> String { count == 1 ? "1 file" : "\(count) files" }

  /// `1 job`, `3 jobs`
  static func jobs(_ count: Int) -> String { count == 1 ? "1 job" : "\(count) jobs" }

  static func oneDecimal(_ value: Double) -> String {
    let tenths = CheckedNumber(rounding: value * 10).value ?? .max
    return "\(tenths / 10).\(tenths % 10)"
  }

  private static func two(_ value: Int64) -> String { value < 10 ? "0\(value)" : "\(value)" }
}
