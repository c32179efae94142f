import Logging
import Threads
import TransferEngine

/// Wakes the jobs that wait for the network when it becomes reachable again. It does no work while the network is unchanged.
struct NetworkWatch: Sendable {
  let scheduler: Scheduler
  let logger: Logger

  /// Minimum time between two wake-ups, so that an unstable network does not use up the jobs' attempts.
  static let interval = Duration.seconds(15)

  /// Runs until the task is cancelled. It returns at once if the kernel has no rtnetlink; then jobs are retried only at
  /// their retry times.
  func run() async {
    guard let manager = NetworkReachabilityManager() else {
      logger.info("cannot watch the network; jobs are retried only at their retry times")
      return
    }
    var before: NetworkReachabilityManager.NetworkReachabilityStatus?
    var last: ContinuousClock.Instant?
    for await status in manager.statuses() {
      if Self.isReturn(from: before, to: status) {
        if let last {
          // checked: instants of this process
          do { try await Task.pause(for: ContinuousClock.now.duration(to: last + Self.interval)) } catch { return }
        }
        last = .now
        logger.notice("the network is reachable again")
        await scheduler.networkReturned()
      }
      before = status
    }
  }

  /// Whether the network became reachable, so that failed jobs may succeed now. It is false for the first status, because
  /// the one before is unknown.
  static func isReturn(
    from before: NetworkReachabilityManager.NetworkReachabilityStatus?,
    to now: NetworkReachabilityManager.NetworkReachabilityStatus
  ) -> Bool {
    guard case .reachable = now, let before else { return false }
    return before != now
  }
}
