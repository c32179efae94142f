/// Threads for calls that block, such as disk I/O. They must not run on the threads of Swift's tasks, which are few.
///
/// Threads are started on demand and end after an idle time. With `maximum: 1`, work runs in the order of its submission.
package final class BlockingThreadPool: Sendable {
  private struct State {
    var work = Queue<@Sendable () -> Void>()
    var threads = 0
    var idle = 0
  }

  private let name: String
  private let maximum: Int
  private let state = Monitor(State())

  private let idleSeconds: Int

  /// - Parameters:
  ///   - name: the name of each thread. Only the first 15 bytes are kept.
  ///   - maximum: the maximum number of threads. Further work is queued.
  ///   - idleSeconds: how long an idle thread waits for work before it ends.
  package init(_ name: String, maximum: Int, idleSeconds: Int = 5) {
    (self.name, self.maximum, self.idleSeconds) = (name, maximum, idleSeconds)
  }

  /// The number of threads, busy and idle.
  var count: Int { state.withLock { $0.threads } }

  /// Queues the work and returns at once. It can be called from any thread.
  package func start(_ work: @escaping @Sendable () -> Void) {
    let (mustStart, mustWake) = state.withLock { state in
      state.work.append(work)
      if state.idle >= state.work.count { return (false, true) }
      if state.threads < maximum {
        state.threads += 1
        return (true, false)
      }
      return (false, state.idle > 0)
    }
    if mustWake { state.signal() }
    if mustStart { startThread(name) { self.serve() } }
  }

  /// Runs the work and returns its result. The caller is suspended, not blocked.
  package func run<Value: Sendable>(_ work: @escaping @Sendable () -> Value) async -> Value {
    await withCheckedContinuation { continuation in
      start { continuation.resume(returning: work()) }
    }
  }

  private func serve() {
    while let work = next() { work() }
  }

  private func next() -> (@Sendable () -> Void)? {
    state.withLock { $0.idle += 1 }
    return state.wait(
      seconds: idleSeconds,
      until: { state -> (@Sendable () -> Void)?? in
        guard let work = state.work.popFirst() else { return nil }
        state.idle -= 1
        return .some(work)
      },
      expired: { state in
        state.idle -= 1
        state.threads -= 1
        return nil
      })
  }
}
