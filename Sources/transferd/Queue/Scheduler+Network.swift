import FoundationEssentials
import Logging
import Store
import TransferAPI

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

  /// There is a new network interface, or one has a new kind of address: jobs that wait for theirs look for it now.
  func interfaceAppeared() async {
    do {
      let count = try await store.makeNetworkRetriesDue(after: [.network], at: Date())
      guard count > 0 else { return }
      logger.notice("retrying jobs that waited for a network interface", metadata: ["jobs": "\(count)"])
      wake()
    } catch {
      logger.warning("cannot retry jobs that wait for a network interface", metadata: ["error": "\(error)"])
    }
  }
}
