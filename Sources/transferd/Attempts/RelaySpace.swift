import Synchronization
import TransferAPI
import TransferEngine

/// The daemon's one ``SpoolLedger``: transfers ask it on their threads.
final class RelaySpace: Sendable {
  private let ledger: Mutex<SpoolLedger>

  init(limit: Int64 = SpoolLedger.standardLimit) { ledger = Mutex(SpoolLedger(limit: limit)) }

  var limit: Int64 { ledger.withLock(\.limit) }

  /// Changes `spoolMax` for what is reserved from now on.
  func setLimit(_ limit: Int64) { ledger.withLock { $0.limit = limit } }

  /// - Returns: why there is no room, for people; `nil`: the bytes are reserved.
  func reserve(_ bytes: Int64, for job: JobID) -> String? {
    ledger.withLock { ledger in
      let now = ContinuousClock.now
      return ledger.reserve(bytes, for: job, now: now) ? nil : ledger.refusal(of: bytes, for: job, now: now)
    }
  }

  func hold(_ bytes: Int64, for job: JobID, isWaiting: Bool = false) {
    ledger.withLock { $0.hold(bytes, for: job, isWaiting: isWaiting) }
  }

  func keepsBytes(whileWaiting job: JobID) -> Bool { ledger.withLock { $0.keepsBytes(whileWaiting: job) } }

  /// - Returns: whether it had room: other relays may begin.
  @discardableResult
  func release(_ job: JobID) -> Bool { ledger.withLock { $0.release(job, now: .now) } }

  func allowance(for job: JobID) -> SpaceAllowance { SpaceAllowance { self.reserve($0, for: job) } }
}
