import CLinux
import Glibc
import Synchronization

/// Calls when a time has come; the time that a machine sleeps counts (CLOCK_BOOTTIME, as for `ContinuousClock`). One thread,
/// which waits for the earliest call and otherwise for nothing.
final class Alarm: Sendable {
  /// A call that may be taken back.
  struct Appointment: Hashable, Comparable, Sendable {
    let due: UInt64
    let number: UInt64

    static func < (a: Self, b: Self) -> Bool { (a.due, a.number) < (b.due, b.number) }
  }

  fileprivate struct State {
    /// The earliest one last.
    var waiting: [(appointment: Appointment, call: @Sendable () -> Void)] = []
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

  /// - Parameter call: on the alarm's thread, so it must be quick.
  @discardableResult
  func add(after nanoseconds: UInt64, _ call: @escaping @Sendable () -> Void) -> Appointment {
    state.withLock { state in
      let (sum, isTooFar) = Self.now.addingReportingOverflow(nanoseconds)
      let due = isTooFar ? UInt64(Int64.max) : min(sum, UInt64(Int64.max))
      if !state.isStarted {
        state.isStarted = true
        startThread("alarm") { while true { self.wait() } }
      }
      state.count += 1
      let appointment = Appointment(due: due, number: state.count)
      let index = state.index(of: appointment)
      state.waiting.insert((appointment, call), at: index)
      if index == state.waiting.count - 1 { linux_timer_set(timer, due) }
      return appointment
    }
  }

  /// - Returns: `false` where the call was, or is being, made.
  @discardableResult
  func remove(_ appointment: Appointment) -> Bool {
    state.withLock { state in
      let index = state.index(of: appointment)
      guard index < state.waiting.count, state.waiting[index].appointment == appointment else { return false }
      state.waiting.remove(at: index)
      // Nobody is to be woken for what is not wanted any more.
      if index == state.waiting.count {
        linux_timer_set(timer, state.waiting.last?.appointment.due ?? UInt64(Int64.max))
      }
      return true
    }
  }

  /// How many calls still wait whose time comes between so many nanoseconds from now.
  func count(after: UInt64, before: UInt64) -> Int {
    let now = Self.now
    return state.withLock { $0.waiting.count { (now + after..<now + before).contains($0.appointment.due) } }
  }

  private static var now: UInt64 {
    var now = timespec()
    clock_gettime(CLOCK_BOOTTIME, &now)
    return UInt64(now.tv_sec) * 1_000_000_000 + UInt64(now.tv_nsec)  // checked: since the boot: 2^64 ns are 584 years
  }

  private func wait() {
    var expirations: UInt64 = 0
    while read(timer, &expirations, 8) < 0 {}
    let calls = state.withLock { state in
      let now = Self.now
      let first = state.index(of: Appointment(due: now, number: .max))
      defer {
        state.waiting.removeSubrange(first...)
        if let next = state.waiting.last { linux_timer_set(timer, next.appointment.due) }
      }
      return state.waiting[first...].reversed().map(\.call)
    }
    for call in calls { call() }
  }
}

extension Alarm.State {
  /// Where it is or belongs: after all that are later.
  fileprivate func index(of appointment: Alarm.Appointment) -> Int {
    var (low, high) = (0, waiting.count)
    while low < high {
      let middle = (low + high) / 2
      if waiting[middle].appointment > appointment { low = middle + 1 } else { high = middle }
    }
    return low
  }
}
