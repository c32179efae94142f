import CCurl
import CLinux
import Glibc
import Synchronization

/// The only thread that uses libcurl: a `SerialExecutor` whose loop runs libcurl's multi handle between Swift jobs.
///
/// `enqueue` may be called from any thread; it appends the job and wakes the thread. Everything else runs on the thread,
/// where SIGPIPE is blocked.
final class CurlExecutor: SerialExecutor {
  private struct Inbox {
    var jobs: [UnownedJob] = []
    var isStopping = false
    var isAsleep = false
  }

  /// What the thread runs between jobs.
  struct Turn: Sendable {
    /// Moves the transfers that are ready, without waiting. Returns the milliseconds until it has to be called again,
    /// whatever happens before.
    let perform: @Sendable () -> Int32
    /// Ends every transfer; called once, at the end.
    let finish: @Sendable () -> Void
  }

  // Written once in `init` and used on the loop's thread only, except for `events.poll.wakeUp()`.
  nonisolated(unsafe) let multi: OpaquePointer
  nonisolated(unsafe) let events: CurlEvents
  private let inbox = Mutex(Inbox())
  private let thread = Mutex<pthread_t?>(nil)
  private let turn = Mutex<Turn?>(nil)

  init() {
    CurlLibrary.initialize()
    guard let multi = curl_multi_init() else {
      preconditionFailure("curl_multi_init failed: out of memory")
    }
    self.multi = OpaquePointer(multi)
    events = CurlEvents(multi)
  }

  var multiPointer: UnsafeMutableRawPointer { UnsafeMutableRawPointer(multi) }

  /// Starts the thread. Called once.
  func start(_ turn: Turn) {
    self.turn.withLock { $0 = turn }
    var id = pthread_t()
    let context = Unmanaged.passRetained(self).toOpaque()
    let code = pthread_create(
      &id, nil,
      { context in
        Unmanaged<CurlExecutor>.fromOpaque(context!).takeRetainedValue().run()
        return nil
      }, context)
    precondition(code == 0, "pthread_create failed: \(code)")
    pthread_detach(id)
  }

  /// Ends the thread after the jobs that are queued now. Running transfers are dropped.
  func stop() {
    inbox.withLock { $0.isStopping = true }
    events.poll.wakeUp()
  }

  func enqueue(_ job: consuming ExecutorJob) {
    let job = UnownedJob(job)
    let mustWake = inbox.withLock { inbox in
      inbox.jobs.append(job)
      return inbox.isAsleep
    }
    if mustWake { events.poll.wakeUp() }
  }

  func checkIsolated() {
    precondition(isCurrent, "not on the transfer loop's thread")
  }

  func isIsolatingCurrentContext() -> Bool? { isCurrent }

  private var isCurrent: Bool {
    thread.withLock { thread in thread.map { pthread_equal($0, pthread_self()) != 0 } ?? false }
  }

  private func run() {
    thread.withLock { $0 = pthread_self() }
    linux_name_thread("transfer-loop")
    linux_prepare_signal_stack()
    blockSIGPIPE()
    guard let turn = turn.withLock({ $0 }) else { return }
    let executor = asUnownedSerialExecutor()
    while true {
      let (jobs, isStopping) = inbox.withLock { inbox in
        inbox.isAsleep = false
        let jobs = inbox.jobs
        inbox.jobs.removeAll(keepingCapacity: true)
        return (jobs, inbox.isStopping)
      }
      if isStopping, jobs.isEmpty { break }
      var pause = Int32(3_600_000)
      ExitGate.pass {
        for job in jobs { job.runSynchronously(on: executor) }
        pause = turn.perform()
      }
      let canSleep = inbox.withLock { inbox in
        inbox.isAsleep = inbox.jobs.isEmpty && !inbox.isStopping
        return inbox.isAsleep
      }
      // Without transfers this waits until it is woken: an idle loop uses no CPU.
      events.wait(atMost: canSleep ? pause : 0)
    }
    ExitGate.pass {
      turn.finish()
      self.turn.withLock { $0 = nil }
      thread.withLock { $0 = nil }
      curl_multi_cleanup(multiPointer)
    }
  }

  private func blockSIGPIPE() {
    var set = sigset_t()
    sigemptyset(&set)
    sigaddset(&set, SIGPIPE)
    pthread_sigmask(SIG_BLOCK, &set, nil)
  }
}
