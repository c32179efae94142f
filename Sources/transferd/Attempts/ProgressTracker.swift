import FoundationEssentials
import Glibc
import Store
import Synchronization
import TransferAPI
import TransferEngine
import WireValues

/// The live progress of running jobs. It is kept in memory and not stored.
final class ProgressTracker: Sendable {
  private struct Entry {
    /// The uid of the job's owner.
    let owner: UInt32
    var request: AttemptRequest
    var lastBytes: Int64
    var lastTime: ContinuousClock.Instant
    var rate: Double?
    /// Whether the engine has reported progress. Before that its zero is meaningless.
    var hasStarted = false
    /// Bytes of this attempt that `transferred` has.
    var counted: Int64 = 0

    /// - Returns: the bytes since the last measurement.
    mutating func sample(now: ContinuousClock.Instant) -> Int64 {
      let progress = request.progress
      let seconds = lastTime.duration(to: now).seconds
      guard seconds > 0.05 else { return 0 }
      let gained = (CheckedNumber(progress.completed) - lastBytes).nonNegative ?? 0
      lastBytes = progress.completed
      lastTime = now
      guard hasStarted else {
        // Bytes from earlier attempts do not count towards this attempt's rate.
        hasStarted = progress != TransferProgress()
        return hasStarted ? count(gained) : 0
      }
      let current = Double(gained) / seconds  // checked: Doubles do not trap
      // Exponential smoothing, weighted by time so that it does not depend on the sampling interval.
      let weight = 1 - exp(-seconds / ProgressTracker.smoothing)  // checked: Doubles do not trap
      rate = rate.map { $0 + (current - $0) * weight } ?? (current > 0 ? current : nil)
      return count(gained)
    }

    private mutating func count(_ gained: Int64) -> Int64 {
      counted = counted.saturatingSum(gained)
      return gained
    }
  }

  /// Time constant in seconds for smoothing the rates.
  static let smoothing = 15.0

  private let entries = Mutex<[JobID: Entry]>([:])
  private let sum = Mutex<Int64>(0)

  /// Body bytes that all attempts have received and sent, as far as they are known: exact when an attempt has ended.
  var transferred: Int64 { sum.withLock { $0 } }

  func add(_ id: JobID, of owner: UInt32, _ request: AttemptRequest, bytesDone: Int64) {
    entries.withLock { $0[id] = Entry(owner: owner, request: request, lastBytes: bytesDone, lastTime: .now) }
  }

  /// - Parameter transferred: the bytes that the whole attempt has received or sent.
  func remove(_ id: JobID, transferred: Int64) {
    let counted = entries.withLock { $0.removeValue(forKey: id)?.counted } ?? 0
    let rest = (CheckedNumber(transferred) - counted).nonNegative ?? 0
    sum.withLock { $0 = $0.saturatingSum(rest) }
  }

  var isEmpty: Bool { entries.withLock { $0.isEmpty } }

  /// Measures every running job once.
  func sample() {
    let now = ContinuousClock.now
    let gained = entries.withLock { entries in
      var gained: Int64 = 0
      for index in entries.values.indices { gained = gained.saturatingSum(entries.values[index].sample(now: now)) }
      return gained
    }
    sum.withLock { $0 = $0.saturatingSum(gained) }
  }

  func progress(of id: JobID) -> Progress? {
    entries.withLock { $0[id].map { Self.progress(id, $0) } }
  }

  func all(in scope: Scope) -> [Progress] {
    entries.withLock { entries in
      entries.compactMap { id, entry in scope.includes(entry.owner) ? Self.progress(id, entry) : nil }
    }.sorted { $0.job < $1.job }
  }

  private static func progress(_ id: JobID, _ entry: Entry) -> Progress {
    let progress = entry.request.progress
    return Progress(
      job: id, bytesDone: progress.completed, bytesTotal: progress.total,
      bytesPerSecond: CheckedNumber(rounding: entry.rate ?? 0).value ?? .max)
  }

  /// The job with the live progress of its running attempt.
  func overlay(_ job: Job) -> Job {
    guard job.state == .running, let live = progress(of: job.id) else { return job }
    var job = job
    if live.bytesDone > 0 || live.bytesTotal != nil { job.bytesDone = live.bytesDone }
    job.bytesTotal = live.bytesTotal ?? job.bytesTotal
    job.bytesPerSecond = live.bytesPerSecond
    return job
  }
}
