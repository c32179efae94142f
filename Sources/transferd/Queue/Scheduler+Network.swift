import FoundationEssentials
import Logging
import Store

extension Scheduler {
  /// The network is reachable again: retries the jobs that wait for it now, and contacts unreachable origins again.
  func networkReturned() async {
    let now = Date()
    queue.governor.networkReturned(now: now)
    do {
      let count = try await store.makeNetworkRetriesDue(at: now)
      if count > 0 { logger.notice("retrying jobs that waited for the network", metadata: ["jobs": "\(count)"]) }
    } catch {
      logger.warning("cannot retry jobs that wait for the network", metadata: ["error": "\(error)"])
    }
    wake()
  }
}
