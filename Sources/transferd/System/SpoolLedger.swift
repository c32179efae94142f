import TransferAPI
import WireValues

/// How the copies of relays share the spool. Pure.
///
/// A relay reserves the whole length of its file when it learns it, and waits without any bytes until there is room for them. So a
/// relay that has begun can always end: no relay waits with bytes for bytes of another one. A file of unknown length
/// reserves as it grows, and a disk may be full before the spool is: of the relays that wait with bytes, one alone keeps them. An
/// upload needs no room.
///
/// The room that the first relay in the line needs is kept for it: relays that were added later get only what is left
/// beside it, so a large file does not wait for as long as there are small ones.
struct SpoolLedger: Equatable, Sendable {
  /// `spoolMax`: the most bytes of all copies.
  var limit: Int64
  private(set) var reserved: [JobID: Int64] = [:]
  /// Relays that have bytes and wait for more room.
  private var waiting: Set<JobID> = []
  /// Relays without bytes that have found no room.
  private var line: [JobID: Place] = [:]
  /// When room was last given back.
  private var lastRelease: ContinuousClock.Instant?

  private struct Place: Equatable {
    var bytes: Int64
    var since, asked: ContinuousClock.Instant

    func isGood(_ now: ContinuousClock.Instant) -> Bool { asked.duration(to: now) < SpoolLedger.placeTime }
  }

  /// How long a place in the line is good after the relay has asked: somewhat longer than it takes to ask again. A
  /// relay that is paused, or may not run now, does not ask.
  private static let placeTime = Duration.seconds(60)
  /// How long room is kept while none is given back: copies of relays that are paused or have failed may stay for ever.
  private static let keepingTime = Duration.seconds(1800)

  /// The default of `spoolMax`.
  static let standardLimit: Int64 = 20 << 30

  init(limit: Int64 = Self.standardLimit) { self.limit = limit }

  /// The bytes of all relays. The sum of what they have may exceed the limit after that was lowered.
  var total: Int64 { reserved.values.reduce(0) { $0.saturatingSum($1) } }

  /// Reserves room for a file. A smaller size than before gives nothing back.
  /// - Returns: whether there is room. What the relay had, it keeps.
  mutating func reserve(_ bytes: Int64, for job: JobID, now: ContinuousClock.Instant) -> Bool {
    let own = reserved[job] ?? 0
    guard bytes > own else { return true }
    let more = bytes.saturatingSum(-own)
    // A relay that has begun gives nothing to others: they may need its bytes.
    let kept = own > 0 ? 0 : firstInLine(before: job, now: now)?.bytes ?? 0
    guard total.saturatingSum(more).saturatingSum(kept) <= limit else {
      if own == 0, bytes <= limit { enqueue(job, bytes, now) }
      return false
    }
    line[job] = nil
    reserved[job] = bytes
    return true
  }

  private mutating func enqueue(_ job: JobID, _ bytes: Int64, _ now: ContinuousClock.Instant) {
    line = line.filter { $0.value.isGood(now) }
    line[job] = Place(bytes: bytes, since: line[job]?.since ?? now, asked: now)
  }

  /// The first relay in the line, if it was added before this one and room is kept for it.
  private func firstInLine(before job: JobID, now: ContinuousClock.Instant) -> (job: JobID, bytes: Int64)? {
    let places = line.filter { $0.key < job && $0.value.isGood(now) }
    guard let (first, place) = places.min(by: { $0.key < $1.key }) else { return nil }
    let moved = max(place.since, lastRelease ?? place.since)
    return moved.duration(to: now) < Self.keepingTime ? (job: first, bytes: place.bytes) : nil
  }

  /// Notes what a relay has on disk when its attempt has ended, whatever the limit is.
  /// - Parameter isWaiting: for more room.
  mutating func hold(_ bytes: Int64, for job: JobID, isWaiting: Bool = false) {
    reserved[job] = bytes > 0 ? bytes : nil
    if !isWaiting || bytes <= 0 { waiting.remove(job) }
    if !isWaiting || bytes > 0 { line[job] = nil }
  }

  /// Notes that a relay waits for more room.
  /// - Returns: whether it keeps the bytes that it has: the first that was added does, the others give theirs up and begin again.
  ///   Two that keep them would wait for each other.
  mutating func keepsBytes(whileWaiting job: JobID) -> Bool {
    guard reserved[job] != nil else { return false }
    waiting.insert(job)
    return waiting.min() == job
  }

  /// Gives all room of a relay back. Its place in the line stays for as long as it is good: the part files of a relay
  /// that waits are removed, too.
  /// - Returns: whether it had room.
  mutating func release(_ job: JobID, now: ContinuousClock.Instant) -> Bool {
    waiting.remove(job)
    guard reserved.removeValue(forKey: job) != nil else { return false }
    lastRelease = now
    return true
  }

  /// Why a relay waits, for people.
  func refusal(of bytes: Int64, for job: JobID, now: ContinuousClock.Instant) -> String {
    let others = total.saturatingSum(-(reserved[job] ?? 0))
    let text = "the spool has no room for \(bytes) bytes: \(others) of spoolMax \(limit) are reserved for other relays"
    guard reserved[job] == nil, let first = firstInLine(before: job, now: now) else { return text }
    return text + ", and \(first.bytes) are kept for job \(first.job), which was added before"
  }
}
