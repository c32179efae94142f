import CTasks

/// The threads that run Swift's tasks and actors, in place of libdispatch's. Jobs run in the order of their submission.
///
/// libdispatch wakes up once a second for the life of the process to monitor its threads, and aborts the process if it
/// has no free file descriptor for that. The threads of this executor are woken only for work. Every task and actor
/// without a custom executor runs here. Blocking calls belong on ``BlockingThreadPool``. Tasks sleep with
/// `Task.pause(for:)`, because `Task.sleep` uses libdispatch. If all threads are blocked nevertheless, more are started.
package final class GlobalExecutor: Sendable {
  /// `@unchecked Sendable`: the submitter does not use a job after it was enqueued, and only one thread runs it.
  struct Job: @unchecked Sendable { let pointer: UnsafeMutableRawPointer }

  fileprivate struct State {
    var jobs = Queue<Job>()
    var idle = 0
    var threads: Int
    /// The number of jobs that threads have taken so far.
    var taken = 0
    var isStallCheckScheduled = false
  }

  private let state: Monitor<State>
  /// The number of permanent threads. Additional ones end after an idle time.
  private let count: Int
  private let maximum: Int
  private let run: @Sendable (Job) -> Void

  /// Another thread is started if jobs are waiting and none was taken for this long, in nanoseconds.
  private static let stallThreshold: UInt64 = 100_000_000
  private static let idleSeconds = 5

  /// - Parameters:
  ///   - count: the number of permanent threads. At least two are started, so that a brief wait on one thread does
  ///     not delay the other jobs.
  ///   - maximum: the maximum number of threads if all are blocked.
  ///   - run: runs one job.
  init(count: Int, maximum: Int = 64, run: @escaping @Sendable (Job) -> Void) {
    self.count = max(2, count)
    self.maximum = max(self.count, maximum)
    self.run = run
    state = Monitor(State(threads: self.count))
    for _ in 0..<self.count { startThread("task") { while true { self.run(self.next()) } } }
  }

  /// Makes an executor of this type run the tasks of this process. It must be called once, before the first task is
  /// created.
  /// - Parameter count: the number of threads, normally one for each core.
  package static func install(count: Int) {
    installed = GlobalExecutor(count: count) { tasks_run($0.pointer) }
    tasks_install { GlobalExecutor.installed.enqueue(Job(pointer: $0!)) }
  }

  // Written once, before the first read.
  nonisolated(unsafe) private static var installed: GlobalExecutor!

  /// Queues a job and returns at once. It can be called from any thread.
  func enqueue(_ job: Job) {
    let (mustWake, mustCheck) = state.withLock { state in
      state.jobs.append(job)
      let mustCheck = state.jobs.count > state.idle && !state.isStallCheckScheduled
      if mustCheck { state.isStallCheckScheduled = true }
      return (state.idle > 0, mustCheck)
    }
    if mustWake { state.signal() }
    if mustCheck { scheduleStallCheck(taken: state.withLock { $0.taken }) }
  }

  /// The number of threads, busy and idle.
  var threadCount: Int { state.withLock { $0.threads } }

  private func next() -> Job {
    var isWaiting = false
    return state.wait { state in
      if isWaiting { state.idle -= 1 }
      isWaiting = false
      if let job = state.take() { return job }
      isWaiting = true
      state.idle += 1
      return nil
    }
  }

  // MARK: Additional threads

  /// Checks for a stall after the threshold, and again as long as jobs are waiting.
  /// - Parameter taken: the number of jobs that threads have taken until now.
  private func scheduleStallCheck(taken: Int) {
    Alarm.shared.add(after: Self.stallThreshold) { self.checkForStall(takenBefore: taken) }
  }

  private func checkForStall(takenBefore: Int) {
    let (taken, mustStart) = state.withLock { state -> (Int?, Bool) in
      guard state.jobs.count > state.idle else {
        state.isStallCheckScheduled = false
        return (nil, false)
      }
      guard state.taken == takenBefore, state.threads < maximum else { return (state.taken, false) }
      state.threads += 1
      return (state.taken, true)
    }
    if mustStart { startThread("task") { while let job = self.nextBeforeTimeout() { self.run(job) } } }
    if let taken { scheduleStallCheck(taken: taken) }
  }

  /// The next job, or `nil` if none arrives during the idle time.
  private func nextBeforeTimeout() -> Job? {
    state.withLock { $0.idle += 1 }
    return state.wait(
      seconds: Self.idleSeconds,
      until: { state -> Job?? in
        guard let job = state.take() else { return nil }
        state.idle -= 1
        return .some(job)
      },
      expired: { state in
        state.idle -= 1
        state.threads -= 1
        return nil
      })
  }
}

extension GlobalExecutor.State {
  fileprivate mutating func take() -> GlobalExecutor.Job? {
    guard let job = jobs.popFirst() else { return nil }
    taken += 1
    return job
  }
}
