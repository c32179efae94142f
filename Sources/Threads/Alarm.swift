import CLinux
import Glibc
import Synchronization

/// Makes calls at given times, by a clock that counts the time the machine is suspended (CLOCK_BOOTTIME, like
/// `ContinuousClock`). One thread waits for the earliest call; it does not wake up in between.
final class Alarm: Sendable {
  /// Identifies a scheduled call, so that it can be cancelled.
  struct TimerToken: Hashable, Comparable, Sendable {
    let due: UInt64
    let number: UInt64

    static func < (a: Self, b: Self) -> Bool { (a.due, a.number) < (b.due, b.number) }
  }

  fileprivate struct State {
    /// Sorted by time, the earliest call last.
    var waiting: [(token: TimerToken, call: @Sendable () -> Void)] = []
    var count: UInt64 = 0
    var isStarted = false
  }

  static let shared = Alarm()

  private let state = Mutex(State())
  private let timer: Int32

  private init() {
    timer = linux_timer()
    precondition(timer >= 0, "timerfd_create failed: \(errno)")
  }

  /// Schedules a call.
  /// - Parameter call: runs on the alarm's thread, so it must be quick and must not block.
  @discardableResult
  func add(after nanoseconds: UInt64, _ call: @escaping @Sendable () -> Void) -> TimerToken {
    state.withLock { state in
      let (sum, isTooFar) = Self.now.addingReportingOverflow(nanoseconds)
      let due = isTooFar ? UInt64(Int64.max) : min(sum, UInt64(Int64.max))
      if !state.isStarted {
        state.isStarted = true
        startThread("alarm") { while true { self.wait() } }
      }
      state.count += 1
      let token = TimerToken(due: due, number: state.count)
      let index = state.index(of: token)
      state.waiting.insert((token, call), at: index)
      if index == state.waiting.count - 1 { linux_timer_set(timer, due) }
      return token
    }
  }

  /// Cancels a scheduled call.
  /// - Returns: `false` if the call was made already, or is being made now.
  @discardableResult
  func remove(_ token: TimerToken) -> Bool {
    state.withLock { state in
      let index = state.index(of: token)
      guard index < state.waiting.count, state.waiting[index].token == token else { return false }
      state.waiting.remove(at: index)
      // The earliest call was cancelled: do not wake the thread for it.
      if index == state.waiting.count {
        linux_timer_set(timer, state.waiting.last?.token.due ?? UInt64(Int64.max))
      }
      return true
    }
  }

  /// The number of scheduled calls that are due between `after` and `before` nanoseconds from now.
  func count(after: UInt64, before: UInt64) -> Int {
    let now = Self.now
    return state.withLock { $0.waiting.count { (now + after..<now + before).contains($0.token.due) } }
  }

  private static var now: UInt64 {
    var now = timespec()
    clock_gettime(CLOCK_BOOTTIME, &now)
    return UInt64(now.tv_sec) * 1_000_000_000 + UInt64(now.tv_nsec)  // checked: time since boot; 2^64 ns are 584 years
  }

  private func wait() {
    var expirations: UInt64 = 0
    while read(timer, &expirations, 8) < 0 {}
    let calls = state.withLock { state in
      let now = Self.now
      let first = state.index(of: TimerToken(due: now, number: .max))
      defer {
        state.waiting.removeSubrange(first...)
        if let next = state.waiting.last { linux_timer_set(timer, next.token.due) }
      }
      return state.waiting[first...].reversed().map(\.call)
    }
    for call in calls { call() }
  }
}

extension Alarm.State {
  /// The index at which the token is, or would be inserted: after all later ones.
  fileprivate func index(of token: Alarm.TimerToken) -> Int {
    var (low, high) = (0, waiting.count)
    while low < high {
      let middle = (low + high) / 2
      if waiting[middle].token > token { low = middle + 1 } else { high = middle }
    }
    return low
  }
}
