import CTasks

/// The threads of Swift's tasks, in the place of libdispatch's: first come, first served.
///
/// libdispatch wakes up once a second for as long as the process lives to look at its threads, and ends the process when it
/// finds no descriptor for that. These wait without being woken. Everything that has no executor of its own runs here:
/// actors and tasks. What blocks belongs to ``BlockingThreads``, and what sleeps does so by `Task.pause(for:)`: `Task.sleep`
/// is libdispatch's own. Should all threads be held up nevertheless, more are started.
package final class TaskThreads: Sendable {
  /// `@unchecked Sendable`: a job belongs to nobody between the one who hands it in and the thread that runs it.
  struct Job: @unchecked Sendable { let pointer: UnsafeMutableRawPointer }

  fileprivate struct State {
    var jobs = Queue<Job>()
    var idle = 0
    var threads: Int
    /// Jobs that threads have taken so far.
    var taken = 0
    var isWatched = false
  }

  private let state: Monitor<State>
  /// Threads that stay; those beyond are there for a while.
  private let count: Int
  private let maximum: Int
  private let run: @Sendable (Job) -> Void

  /// How long no job may have been taken while some wait.
  private static let patience: UInt64 = 100_000_000
  private static let idleSeconds = 5

  /// - Parameters:
  ///   - count: threads; at least two, so that one that waits for something short stops nobody.
  ///   - maximum: threads that there may be if all are held up.
  ///   - run: what is done with a job.
  init(count: Int, maximum: Int = 64, run: @escaping @Sendable (Job) -> Void) {
    self.count = max(2, count)
    self.maximum = max(self.count, maximum)
    self.run = run
    state = Monitor(State(threads: self.count))
    for _ in 0..<self.count { startThread("task") { while true { self.run(self.next()) } } }
  }

  /// Takes over the tasks of this process. Called once, before the first one is made.
  /// - Parameter count: threads, one a core.
  package static func install(count: Int) {
    installed = TaskThreads(count: count) { tasks_run($0.pointer) }
    tasks_install { TaskThreads.installed.enqueue(Job(pointer: $0!)) }
  }

  // Written once, before anything can call.
  nonisolated(unsafe) private static var installed: TaskThreads!

  /// Returns at once. From any thread.
  func enqueue(_ job: Job) {
    let (mustWake, mustWatch) = state.withLock { state in
      state.jobs.append(job)
      let mustWatch = state.jobs.count > state.idle && !state.isWatched
      if mustWatch { state.isWatched = true }
      return (state.idle > 0, mustWatch)
    }
    if mustWake { state.signal() }
    if mustWatch { watch(since: state.withLock { $0.taken }) }
  }

  /// Threads that there are.
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

  // MARK: More of them

  /// Looks once the patience is over, and again for as long as jobs wait.
  private func watch(since taken: Int) {
    Alarm.shared.add(after: Self.patience) { self.look(since: taken) }
  }

  private func look(since before: Int) {
    let (taken, mustStart) = state.withLock { state -> (Int?, Bool) in
      guard state.jobs.count > state.idle else {
        state.isWatched = false
        return (nil, false)
      }
      guard state.taken == before, state.threads < maximum else { return (state.taken, false) }
      state.threads += 1
      return (state.taken, true)
    }
    if mustStart { startThread("task") { while let job = self.nextForAWhile() { self.run(job) } } }
    if let taken { watch(since: taken) }
  }

  private func nextForAWhile() -> Job? {
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

extension TaskThreads.State {
  fileprivate mutating func take() -> TaskThreads.Job? {
    guard let job = jobs.popFirst() else { return nil }
    taken += 1
    return job
  }
}
