import Store
import TransferAPI

extension JobQueue {
  /// An attempt, from its claim until its end is stored.
  struct Attempt: Equatable, Sendable {
    enum Phase: Equatable, Sendable {
      case transferring
      /// All bytes have arrived; the attempt no longer uses a network slot.
      case finishing
      /// The attempt has ended, and the next turn stores its end.
      case ended
      /// A turn that stores its end is under way.
      case settling
    }

    let origin: String
    var batch: BatchID?
    var owner: UInt32 = 0
    let fence: Int64
    var priority = 0
    /// Its file is not small (`FinishedTransfer.smallFile`), as far as is known.
    var isLarge: Bool
    var phase = Phase.transferring
    /// It can be stopped and continued later without loss, as far as is known.
    var isResumable = false
    /// Why it was stopped; `nil` if it was not.
    var stop: StopReason?
  }

  /// The number of running transfers of each batch, and of each owner's jobs without a batch.
  var sharesInUse: [BatchID: Int] {
    var shares: [BatchID: Int] = [:]
    for attempt in attempts.values where attempt.phase == .transferring {
      shares[attempt.batch ?? BatchID(owner: attempt.owner, name: ""), default: 0] += 1  // checked: counts transfers
    }
    return shares
  }

  /// The running transfers that can be stopped and continued later without loss, as far as is known.
  var resumableTransfers: [JobID] { attempts.filter { isStoppable($0.value) }.map(\.key) }

  /// An attempt that runs with no other attempt beside it.
  struct IsolatedAttempt: Equatable, Sendable {
    let job: JobID
    let fence: Int64
  }
}
