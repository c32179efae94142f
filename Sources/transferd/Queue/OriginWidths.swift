import FoundationEssentials

/// The widths of all origins under `maxPerOrigin: auto`, and their running transfers of large files. Pure.
struct OriginWidths: Sendable {
  /// Maximum number of origins that are kept. Above it, origins without a transfer are forgotten, and their widths
  /// start again.
  static let capacity = 1024

  private struct Origin {
    var width = OriginWidth()
    var ahead = ClaimAhead()

    /// How many of the claimed jobs may transfer at once; `nil`: all, because none is claimed in advance.
    var connections: Int? { ahead.isActive ? width.width : nil }
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
  /// - Parameter maxActive: the daemon's limit.
  func claims(of origin: String, maxActive: Int) -> Int {
    let limit = limit(of: origin)
    guard known[origin]?.ahead.isActive == true else { return limit }
    // Other origins find some slots even if this one becomes silent.
    let others = maxActive - OriginWidth.initial  // checked: `maxActive` is in `Admission.range`
    return max(limit, min(others, ClaimAhead.maximumClaims))
  }

  /// The origins whose claimed jobs may use another number of connections than before; `nil`: one for each.
  mutating func takeChangedConnections() -> [String: Int?] {
    guard !changed.isEmpty else { return [:] }
    defer { changed = [] }
    return changed.reduce(into: [:]) { $0[$1] = .some(known[$1]?.connections) }
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
  }

  mutating func endLargeFile(of origin: String) {
    guard let count = large[origin] else { return }
    large[origin] = count > 1 ? count - 1 : nil
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
    for (name, origin) in known where !active(name) {
      if origin.connections != nil { changed.insert(name) }
      known[name] = nil
    }
  }

  private mutating func update(_ name: String, _ change: (inout Origin) -> Void) {
    var origin = known[name] ?? Origin()
    let connections = origin.connections
    change(&origin)
    if origin.connections != connections { changed.insert(name) }
    known[name] = origin
  }
}
