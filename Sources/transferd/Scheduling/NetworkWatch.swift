import Logging
import Threads
import TransferEngine

/// Wakes what waits for the network when there is a way to it again. Nothing runs while nothing changes.
struct NetworkWatch: Sendable {
  let scheduler: Scheduler
  let logger: Logger

  /// Between two times that jobs are woken: a network that comes and goes must not cost them their tries.
  static let interval = Duration.seconds(15)

  /// Until cancelled; returns at once where the kernel has no rtnetlink: retries then come by the clock alone.
  func run() async {
    guard let manager = NetworkReachabilityManager() else {
      logger.info("the kernel does not tell when the network returns; jobs are retried by the clock")
      return
    }
    var before: NetworkReachabilityManager.NetworkReachabilityStatus?
    var last: ContinuousClock.Instant?
    for await status in manager.statuses() {
      if Self.isReturn(from: before, to: status) {
        if let last {
          // checked: times of this process
          do { try await Task.pause(for: ContinuousClock.now.duration(to: last + Self.interval)) } catch { return }
        }
        last = .now
        logger.notice("the network is back")
        await scheduler.networkReturned()
      }
      before = status
    }
  }

  /// Whether jobs that failed before may succeed now. At the start nothing is known: retries keep the times that they had.
  static func isReturn(
    from before: NetworkReachabilityManager.NetworkReachabilityStatus?,
    to now: NetworkReachabilityManager.NetworkReachabilityStatus
  ) -> Bool {
    guard case .reachable = now, let before else { return false }
    return before != now
  }
}
