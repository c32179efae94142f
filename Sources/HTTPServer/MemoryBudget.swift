import NIOCore
import Synchronization

/// The memory that request bodies of all connections share.
///
/// A request reserves all that its body may need before it reads the body, and never waits while it holds a reservation. So
/// requests cannot block each other for ever: a reservation ends at the latest when its body has run out of time.
public final class MemoryBudget: Sendable {
  /// A part of the memory. It is given back when the last reference goes.
  public final class Reservation: Sendable {
    fileprivate let budget: MemoryBudget
    fileprivate let bytes: Int
    fileprivate let uid: UInt32?

    fileprivate init(_ budget: MemoryBudget, _ bytes: Int, _ uid: UInt32?) {
      self.budget = budget
      self.bytes = bytes
      self.uid = uid
    }

    deinit { budget.giveBack(bytes, of: uid) }
  }

  private struct Waiter {
    let number: UInt64
    let bytes: Int
    let uid: UInt32?
    let continuation: CheckedContinuation<Void, any Error>
  }

  private struct State {
    var used = 0
    /// Bytes used by all users who are not privileged, and by each of them.
    var usedByOthers = 0
    var usedByUser: [UInt32?: Int] = [:]
    var waiters: [Waiter] = []
    var lastNumber: UInt64 = 0
  }

  private let limits: ServerLimits
  private let state = Mutex(State())

  init(_ limits: ServerLimits) { self.limits = limits }

  /// The bytes that are reserved now.
  public var used: Int { state.withLock(\.used) }
  /// The number of requests that wait.
  public var waitingCount: Int { state.withLock(\.waiters.count) }

  /// Suspends until there is room. Requests are served in order, but a user who has reached a limit, or a request for
  /// much memory, does not delay the others.
  /// - Parameters:
  ///   - bytes: at most the share of one user (`ServerLimits.bodyMemoryPerUser`).
  ///   - uid: the user who makes the request; `nil` for a client without a uid. All such clients count as one more
  ///     user.
  ///   - loop: the event loop that measures the time.
  /// - Throws: `RequestError.outOfMemory` if there was no room in time; `CancellationError`.
  func reserve(_ bytes: Int, for uid: UInt32?, on loop: any EventLoop) async throws -> Reservation {
    let bytes = max(0, min(bytes, limits.bodyMemoryPerUser))
    if state.withLock({ take(bytes, uid, &$0) }) { return Reservation(self, bytes, uid) }
    let number = state.withLock { state in
      state.lastNumber &+= 1
      return state.lastNumber
    }
    var timer: Scheduled<Void>?
    defer { timer?.cancel() }
    try await withTaskCancellationHandler {
      try await withCheckedThrowingContinuation { continuation in
        let isIn = state.withLock { state in
          if take(bytes, uid, &state) { return true }
          state.waiters.append(Waiter(number: number, bytes: bytes, uid: uid, continuation: continuation))
          return false
        }
        guard !isIn else { return continuation.resume() }
        // The waiter is in the list by now, so neither its timer nor its cancellation can miss it.
        timer = loop.scheduleTask(in: limits.memoryTimeout) { self.fail(number, RequestError.outOfMemory) }
        if Task.isCancelled { fail(number, CancellationError()) }
      }
    } onCancel: {
      fail(number, CancellationError())
    }
    return Reservation(self, bytes, uid)
  }

  /// `nil` if there is no room now.
  func tryReserve(_ bytes: Int, for uid: UInt32?) -> Reservation? {
    state.withLock { take(bytes, uid, &$0) } ? Reservation(self, bytes, uid) : nil
  }

  private func take(_ bytes: Int, _ uid: UInt32?, _ state: inout State) -> Bool {
    guard bytes <= limits.bodyMemory - state.used else { return false }  // checked: used is at most bodyMemory
    if !limits.isPrivileged(uid) {
      let own = state.usedByUser[uid] ?? 0
      guard bytes <= limits.bodyMemoryOfOthers - state.usedByOthers,  // checked: as above
        bytes <= limits.bodyMemoryPerUser - own  // checked: as above
      else { return false }
      state.usedByOthers += bytes  // checked: at most bodyMemory
      state.usedByUser[uid] = own + bytes  // checked: at most bodyMemoryPerUser
    }
    state.used += bytes  // checked: at most bodyMemory
    return true
  }

  private func giveBack(_ bytes: Int, of uid: UInt32?) {
    let served = state.withLock { state in
      state.used -= bytes  // checked: reserved before
      if !limits.isPrivileged(uid) {
        state.usedByOthers -= bytes  // checked: reserved before
        let rest = (state.usedByUser[uid] ?? 0) - bytes  // checked: reserved before
        state.usedByUser[uid] = rest > 0 ? rest : nil
      }
      var served: [Waiter] = []
      var waiting: [Waiter] = []
      for waiter in state.waiters {
        if take(waiter.bytes, waiter.uid, &state) { served.append(waiter) } else { waiting.append(waiter) }
      }
      state.waiters = waiting
      return served
    }
    for waiter in served { waiter.continuation.resume() }
  }

  /// Does nothing if the waiter has been served meanwhile.
  private func fail(_ number: UInt64, _ error: any Error) {
    let waiter = state.withLock { state -> Waiter? in
      guard let index = state.waiters.firstIndex(where: { $0.number == number }) else { return nil }
      return state.waiters.remove(at: index)
    }
    waiter?.continuation.resume(throwing: error)
  }
}
