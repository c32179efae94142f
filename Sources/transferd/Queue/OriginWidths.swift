import FoundationEssentials

/// The widths of all origins under `maxPerOrigin: auto`, and their running transfers of large files. Pure.
struct OriginWidths: Sendable {
  /// Maximum number of origins that are kept. Above it, origins without a transfer are forgotten, and their widths
  /// start again.
  static let capacity = 1024

  private var widths: [String: OriginWidth] = [:]
  /// The number of running transfers of files that are not small, by origin.
  private var large: [String: Int] = [:]

  func limit(of origin: String) -> Int {
    widths[origin]?.limit(hasLargeFiles: large[origin] != nil) ?? OriginWidth.initial
  }

  /// The widest limit of these origins.
  func widest(of origins: some Sequence<String>) -> Int {
    origins.reduce(OriginWidth.initial) { max($0, limit(of: $1)) }
  }

  mutating func startLargeFile(of origin: String) { large[origin, default: 0] += 1 }  // checked: counts transfers

  mutating func endLargeFile(of origin: String) {
    guard let count = large[origin] else { return }
    large[origin] = count > 1 ? count - 1 : nil
  }

  /// A file was downloaded from the origin or uploaded to it.
  mutating func recordFile(of origin: String, isLarge: Bool, now: Date) {
    update(origin) { isLarge ? $0.recordLargeFile(now: now) : $0.recordSmallFile(now: now) }
  }

  mutating func recordRefusal(by origin: String, now: Date) { update(origin) { $0.recordRefusal(now: now) } }

  /// Forgets origins without transfers if there are too many.
  mutating func prune(keeping active: (String) -> Bool) {
    guard widths.count > Self.capacity else { return }
    widths = widths.filter { active($0.key) }
  }

  private mutating func update(_ origin: String, _ change: (inout OriginWidth) -> Void) {
    var width = widths[origin] ?? OriginWidth()
    change(&width)
    widths[origin] = width
  }
}
