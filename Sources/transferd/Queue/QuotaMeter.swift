import FoundationEssentials
import WireValues

/// Counts the body bytes of a day, received and sent, for `quota`. Pure: the day and the bytes are passed in.
struct QuotaMeter: Equatable, Sendable {
  private(set) var day: LocalDay
  /// Bytes of this day.
  private(set) var used: Int64
  /// The bytes of this process that are counted.
  private var seen: Int64
  private var stored: Int64

  /// Bytes after which the count is stored again. A kill loses at most these.
  static let storedStep: Int64 = 16 << 20

  /// - Parameters:
  ///   - used: what is stored of the day.
  ///   - total: the bytes of this process so far.
  init(day: LocalDay, used: Int64 = 0, total: Int64 = 0) {
    self.day = day
    self.used = used
    seen = total
    stored = used
  }

  /// - Parameter total: the bytes of this process so far; it only grows.
  mutating func count(total: Int64, on today: LocalDay) {
    guard today.name == day.name else {
      // Bytes since the last look may be of both days; they are of the newer one.
      self = QuotaMeter(day: today, total: seen)
      return count(total: total, on: today)
    }
    day = today
    used = used.saturatingSum(max(0, (CheckedNumber(total) - seen).value ?? 0))
    seen = total
  }

  /// Bytes without a quota are not counted, so that they do not count for one that is set later.
  mutating func skip(total: Int64) { seen = total }

  /// Whether the count has to be stored now. A call counts as the attempt to store it.
  mutating func mustStore(atOnce: Bool) -> Bool {
    let fresh = (CheckedNumber(used) - stored).value ?? 0
    guard fresh > 0, atOnce || fresh >= Self.storedStep else { return false }
    stored = used
    return true
  }

  /// When jobs may begin again; `nil`: now.
  func usedUpUntil(_ quota: Int64?) -> Date? { quota.map { used >= $0 } == true ? day.end : nil }
}
