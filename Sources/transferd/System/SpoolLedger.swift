import TransferAPI
import WireValues

/// How the copies of relays share the spool. Pure.
///
/// A relay reserves the whole length of its file when it learns it, and waits without any bytes until there is room for them. So a
/// relay that has begun can always end: no relay waits with bytes for bytes of another one. A file of unknown length
/// reserves as it grows, and a disk may be full before the spool is: of the relays that wait with bytes, one alone keeps them. An
/// upload needs no room.
struct SpoolLedger: Equatable, Sendable {
  /// `spoolMax`: the most bytes of all copies.
  var limit: Int64
  private(set) var reserved: [JobID: Int64] = [:]
  /// Relays that have bytes and wait for more room.
  private var waiting: Set<JobID> = []

  /// The default of `spoolMax`.
  static let standardLimit: Int64 = 20 << 30

  init(limit: Int64 = Self.standardLimit) { self.limit = limit }

  /// The bytes of all relays. The sum of what they have may exceed the limit after that was lowered.
  var total: Int64 { reserved.values.reduce(0) { $0.saturatingSum($1) } }

  /// Reserves room for a file. A smaller size than before gives nothing back.
  /// - Returns: whether there is room. What the relay had, it keeps.
  mutating func reserve(_ bytes: Int64, for job: JobID) -> Bool {
    let own = reserved[job] ?? 0
    guard bytes > own else { return true }
    let more = bytes.saturatingSum(-own)
    guard total.saturatingSum(more) <= limit else { return false }
    reserved[job] = bytes
    return true
  }

  /// Notes what a relay has on disk when its attempt has ended, whatever the limit is.
  /// - Parameter isWaiting: for more room.
  mutating func hold(_ bytes: Int64, for job: JobID, isWaiting: Bool = false) {
    reserved[job] = bytes > 0 ? bytes : nil
    if !isWaiting || bytes <= 0 { waiting.remove(job) }
  }

  /// Notes that a relay waits for more room.
  /// - Returns: whether it keeps the bytes that it has: the first that was added does, the others give theirs up and begin again.
  ///   Two that keep them would wait for each other.
  mutating func keepsBytes(whileWaiting job: JobID) -> Bool {
    guard reserved[job] != nil else { return false }
    waiting.insert(job)
    return waiting.min() == job
  }

  /// - Returns: whether it had room.
  mutating func release(_ job: JobID) -> Bool {
    waiting.remove(job)
    return reserved.removeValue(forKey: job) != nil
  }

  /// Why a relay waits, for people.
  func refusal(of bytes: Int64, for job: JobID) -> String {
    let others = total.saturatingSum(-(reserved[job] ?? 0))
    return "the spool has no room for \(bytes) bytes: \(others) of spoolMax \(limit) are reserved for other relays"
  }
}
