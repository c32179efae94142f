/// Where calls that wait for a disk or the like are made: not on the threads of Swift's tasks, of which there are few.
///
/// Threads are started as they are needed, and end when there was nothing to do for a while. With one thread at most, work
/// is done in the order in which it is handed in.
package final class BlockingThreads: Sendable {
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
  ///   - name: of each thread; 15 bytes at most are kept.
  ///   - maximum: threads at once; what comes beyond waits.
  ///   - idleSeconds: how long a thread waits for more.
  package init(_ name: String, maximum: Int, idleSeconds: Int = 5) {
    (self.name, self.maximum, self.idleSeconds) = (name, maximum, idleSeconds)
  }

  /// Threads that there are.
  var count: Int { state.withLock { $0.threads } }

  /// Returns at once; the work begins when a thread has time for it. From any thread.
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

  /// Suspends until the work is done.
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
