import FoundationEssentials
import Store

extension Scheduler {
  /// There is a way to the network again: jobs that wait for it are tried now, and servers that were gone are looked for.
  func networkReturned() async {
    let now = Date()
    governor.networkReturned(now: now)
    do {
      let count = try await store.hastenNetworkRetries(at: now)
      if count > 0 { logger.notice("jobs that waited for the network are tried now", metadata: ["jobs": "\(count)"]) }
    } catch {
      logger.warning("cannot hasten jobs that wait for the network", metadata: ["error": "\(error)"])
    }
    await wake()
  }
}
