import FoundationEssentials

/// The widths of all origins under `maxPerOrigin: auto`, and their running transfers of large files. Pure.
struct OriginWidths: Sendable {
  /// Maximum number of origins that are kept. Above it, origins without a transfer are forgotten, and their widths
  /// start again.
  static let capacity = 1024

  private struct Origin {
    var width = OriginWidth()
    var ahead = ClaimAhead()
  }

  private var known: [String: Origin] = [:]
  /// The number of running transfers of files that are not small, by origin.
  private var large: [String: Int] = [:]
  /// Origins whose `connections` have changed.
  private var changed: Set<String> = []

  func limit(of origin: String) -> Int {
    known[origin]?.width.limit(hasLargeFiles: large[origin] != nil) ?? OriginWidth.initial
  }

  /// The number of jobs of the origin that may be claimed.
  func claims(of origin: String) -> Int {
    let isAhead = known[origin]?.ahead.isActive == true && large[origin] == nil
    return isAhead ? ClaimAhead.maximumClaims : limit(of: origin)
  }

  /// How many of the origin's claimed jobs may transfer at once; `nil`: all, because none was claimed in advance.
  func connections(of origin: String) -> Int? {
    known[origin]?.ahead.wasActive == true ? limit(of: origin) : nil
  }

  /// The origins whose `connections` may have changed since the last call.
  mutating func takeChanged() -> Set<String> {
    guard !changed.isEmpty else { return [] }
    defer { changed = [] }
    return changed
  }

  mutating func markChanged(_ origins: some Sequence<String>) { changed.formUnion(origins) }

  /// The same widths, with which no job is claimed in advance.
  func withoutClaimsAhead() -> OriginWidths {
    var widths = self
    for name in known.keys { widths.known[name]?.ahead = ClaimAhead() }
    return widths
  }

  /// A transfer with the origin begins.
  mutating func recordStart(of origin: String, in lane: TransferLane) {
    update(origin) { $0.ahead.recordStart(in: lane) }
  }

  /// The widest limit of these origins.
  func widest(of origins: some Sequence<String>) -> Int {
    origins.reduce(OriginWidth.initial) { max($0, limit(of: $1)) }
  }

  mutating func startLargeFile(of origin: String) {
    large[origin, default: 0] += 1  // checked: counts transfers
    update(origin) { $0.ahead.stop() }
    changed.insert(origin)
  }

  mutating func endLargeFile(of origin: String) {
    guard let count = large[origin] else { return }
    large[origin] = count > 1 ? count - 1 : nil
    changed.insert(origin)
  }

  /// A file was downloaded from the origin or uploaded to it.
  mutating func recordFile(of origin: String, isLarge: Bool, now: Date) {
    update(origin) {
      if isLarge {
        $0.width.recordLargeFile(now: now)
        $0.ahead.stop()
      } else {
        $0.width.recordSmallFile(now: now)
        $0.ahead.recordSmallFile(now: now)
      }
    }
  }

  mutating func recordRefusal(by origin: String, now: Date) {
    update(origin) {
      $0.width.recordRefusal(now: now)
      $0.ahead.stop()
    }
  }

  /// Forgets origins without transfers if there are too many.
  mutating func prune(keeping active: (String) -> Bool) {
    guard known.count > Self.capacity else { return }
    for name in known.keys where !active(name) {
      known[name] = nil
      changed.insert(name)
    }
  }

  private mutating func update(_ name: String, _ change: (inout Origin) -> Void) {
    let connections = connections(of: name)
    change(&known[name, default: Origin()])
    if self.connections(of: name) != connections { changed.insert(name) }
  }
}
