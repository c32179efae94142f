import WireValues

/// Which bytes of a file are on disk, which are being fetched, and by which connection. Pure.
///
/// A *segment* is a range that one connection fetches. Free ranges are taken first, the largest before the others. When none
/// is left, a free connection takes half of the largest rest of another one, or all of the rest of one that is much slower.
///
/// The *lead* is the download's ordinary transfer. Its response may go on to the file's end, so it gets back what another
/// connection took from its end and could not fetch.
struct SegmentPlan: Sendable {
  struct Segment: Equatable, Sendable {
    let id: Int
    /// The first byte that it fetched.
    let start: Int64
    /// The next byte that it writes.
    var position: Int64
    /// The offset after its last byte. Becomes smaller when another connection takes a part of the rest.
    var end: Int64

    var rest: Int64 { end - position }  // checked: 0 ≤ position ≤ end
  }

  /// A split leaves at least this much to both connections.
  static let minimumRest: Int64 = 512 << 10
  /// Splits are at multiples of this, so that the map of pieces has a connection's first bytes, too.
  static let alignment = PieceMap.pieceBytes
  /// A slow connection keeps a rest of this size.
  static let minimumTail: Int64 = 64 << 10
  /// A file of more bytes is fetched by one connection: no file system here has larger files.
  static let maximumTotal: Int64 = 1 << 44

  /// The file's length in bytes.
  let total: Int64
  private(set) var completed: ByteRanges
  private(set) var segments: [Segment] = []
  private var nextID = 0
  private var lead: (id: Int, end: Int64)?
  /// Segments that the lead keeps as well until `confirm`.
  private var tentative: Set<Int> = []

  /// - Parameters:
  ///   - total: 1 to `maximumTotal`.
  ///   - completed: the bytes on disk.
  init(total: Int64, completed: ByteRanges = ByteRanges()) {
    precondition((1...Self.maximumTotal).contains(total))
    self.total = total
    self.completed = completed.clamped(to: total)
  }

  var isComplete: Bool { completed.count == total }

  /// Ranges that are neither on disk nor being fetched.
  var free: [Range<Int64>] {
    var taken = completed
    // checked: position ≤ end
    for segment in segments where segment.rest > 0 { taken.insert(segment.position..<segment.end) }
    return taken.gaps(upTo: total)
  }

  func segment(_ id: Int) -> Segment? { segments.first { $0.id == id } }

  /// The lead fetches from this byte to the next one that is on disk.
  /// - Parameter end: the offset after the last byte of its response.
  /// - Returns: its segment's id; `nil` if the byte is on disk or being fetched.
  mutating func begin(at offset: Int64, upTo end: Int64 = .max) -> Int? {
    guard let gap = free.first(where: { $0.contains(offset) }) else { return nil }
    let segment = add(offset..<min(gap.upperBound, max(end, offset)))
    lead = (segment.id, end)
    return segment.id
  }

  /// A segment for a free connection; `nil` if nothing is left that would be worth one.
  /// - Parameters:
  ///   - rate: bytes a second that the connection is expected to fetch; `nil`: unknown.
  ///   - known: bytes a second that connections with its source have fetched; `nil`: unknown. A rest is then divided so that
  ///     both connections need the same time; a source that is too slow for that gets nothing.
  ///   - rates: of the running segments, by id; a missing one is expected to have `rate`.
  ///   - start: what it costs to begin.
  ///   - sharers: how many connections begin now, this one included: a rest is divided evenly among them.
  ///   - isTentative: it is not known yet whether the server serves ranges. The other connection keeps its rest until
  ///     `confirm`.
  mutating func take(
    rate: Double? = nil, known: Double? = nil, rates: [Int: Double] = [:], start: ConnectionStart = ConnectionStart(),
    sharers: Int = 1, isTentative: Bool = false
  ) -> Segment? {
    if let gap = free.max(by: { $0.length < $1.length }) { return add(gap) }
    let rests = segments.map { (segment: $0, end: plannedEnd(of: $0)) }
    // checked: position ≤ planned end
    if let (victim, end) = rests.max(by: { $0.end - $0.segment.position < $1.end - $1.segment.position }),
      // checked: as above
      case let rest = end - victim.position, rest >= 2 * Self.minimumRest,
      start.isWorth(rest, at: rates[victim.id] ?? rate)
    {
      let kept = Self.kept(of: rest, theirs: rates[victim.id], known, start, sharers)
      // checked: between position and end, which are at most `maximumTotal`
      let middle = max((victim.position + kept) / Self.alignment * Self.alignment, victim.position)
      // checked: between position and end
      if end - middle >= Self.minimumTail { return split(victim, at: middle, upTo: end, isTentative: isTentative) }
    }
    guard let rate, rate > 0, !isTentative else { return nil }
    // A slow tail: nothing else is left to do, and this connection would need less than half of the time.
    let slow = segments.first { segment in
      guard let theirs = rates[segment.id], segment.rest > Self.minimumTail else { return false }
      return theirs < rate / 2 && start.isWorth(segment.rest, at: theirs)
    }
    return slow.flatMap { split($0, at: $0.position, upTo: $0.end) }
  }

  /// How much of a rest stays with its connection.
  private static func kept(
    of rest: Int64, theirs: Double?, _ ours: Double?, _ start: ConnectionStart, _ sharers: Int
  ) -> Int64 {
    // checked: floating point; a part of the rest
    func part(_ share: Double) -> Int64 { min(rest, CheckedNumber(rounding: Double(rest) * share).value ?? rest / 2) }
    if let theirs, let ours, theirs > 0, ours > 0 { return part(theirs / (theirs + ours)) }
    // Until the new connection brings its first byte, the other one goes on.
    let early = min(rest / 2, CheckedNumber(rounding: (theirs ?? 0) * start.delay).value ?? 0)
    // checked: at most 32 connections; a part of the rest
    return rest - (rest - early) / Int64(max(1, sharers) + 1)
  }

  /// Where the segment ends if the server serves ranges.
  private func plannedEnd(of segment: Segment) -> Int64 {
    let taken = tentative.compactMap { self.segment($0)?.start }.filter { $0 > segment.start && $0 < segment.end }
    return taken.min().map { max($0, segment.position) } ?? segment.end
  }

  private mutating func split(
    _ victim: Segment, at middle: Int64, upTo end: Int64, isTentative: Bool = false
  ) -> Segment? {
    guard let index = segments.firstIndex(where: { $0.id == victim.id }) else { return nil }
    let taken = add(middle..<end)  // checked: between position and end
    if isTentative { tentative.insert(taken.id) } else { segments[index].end = middle }
    return taken
  }

  /// The server serves ranges: the other connections end before what was taken from them. If one of them has already fetched
  /// some of it, these bytes are fetched twice.
  mutating func confirm() {
    for id in tentative {
      guard let taken = segment(id) else { continue }
      for index in segments.indices
      where segments[index].id != id && segments[index].start <= taken.start && segments[index].end > taken.start {
        let end = max(segments[index].position, taken.start)
        if segments[index].end > end { segments[index].end = end }
      }
    }
    tentative = []
  }

  private mutating func add(_ range: Range<Int64>) -> Segment {
    let segment = Segment(id: nextID, start: range.lowerBound, position: range.lowerBound, end: range.upperBound)
    nextID += 1
    segments.append(segment)
    return segment
  }

  /// Bytes up to the offset were written. Another connection may have taken some of them meanwhile; they are the same.
  mutating func advance(_ id: Int, to offset: Int64) {
    guard let index = segments.firstIndex(where: { $0.id == id }) else { return }
    let position = segments[index].position
    let reached = min(offset, segments[index].end)
    guard reached > position else { return }
    segments[index].position = reached
    completed.insert(position..<reached)
  }

  /// Bytes on disk turned out to be wrong: they are free again.
  mutating func discard(_ range: Range<Int64>) { completed.remove(range) }

  /// The connection has ended. What it has not fetched is free again, or the lead's if it follows the lead's bytes.
  mutating func end(_ id: Int) {
    segments.removeAll { $0.id == id }
    tentative.remove(id)
    guard let lead, let index = segments.firstIndex(where: { $0.id == lead.id }), segments[index].rest > 0,
      let gap = free.first(where: { $0.lowerBound == segments[index].end })
    else { return }
    segments[index].end = max(segments[index].end, min(gap.upperBound, lead.end))
  }
}
