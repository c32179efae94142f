import FoundationEssentials
import Logging
import Store
import TransferAPI

/// The quota of the day.
extension Scheduler {
  /// Reads what the day has used before the last end of the daemon.
  func loadQuota() async throws {
    let day = LocalDay(containing: Date())
    quota = QuotaMeter(day: day, used: try await store.transferredBytes(on: day.name), total: tracker.transferred)
    countQuota()
  }

  /// Counts the bytes since the last call, and holds up the jobs while the quota is used up. Costs nothing without a quota.
  func countQuota() {
    guard limits.quota != nil || queue.quotaEnds != nil else { return quota.skip(total: tracker.transferred) }
    quota.count(total: tracker.transferred, on: LocalDay(containing: Date()))
    let until = quota.usedUpUntil(limits.quota)
    let isNew = until != nil && queue.quotaEnds == nil
    if until != queue.quotaEnds { send(.quotaUsedUp(until: until)) }
    if isNew { logger.notice("the quota of the day is used up", metadata: ["bytes": "\(quota.used)"]) }
    // Each time: a transfer may turn out to be resumable later. The others may finish. If they began again each day, one
    // that is larger than the quota would never end.
    let resumable = until == nil ? [] : queue.resumableTransfers
    if !resumable.isEmpty { stop(resumable, .quota) }
    guard quota.mustStore(atOnce: isNew) else { return }
    let (day, used) = (quota.day.name, quota.used)
    Task { await storeQuota(day, used) }
  }

  func storeQuota(_ day: String, _ used: Int64) async {
    do {
      try await store.setTransferredBytes(used, on: day)
    } catch {
      logger.warning("cannot store the bytes of the day", metadata: ["error": "\(error)"])
    }
  }
}
