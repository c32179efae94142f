import CCurl
import CLinux
import Glibc
import Synchronization

/// The one thread that owns libcurl: a `SerialExecutor` whose loop turns libcurl's multi handle between Swift jobs.
///
/// `enqueue` may be called from any thread; it appends and calls `curl_multi_wakeup`, the one libcurl call that is
/// allowed from any thread (`curl_multi_wakeup(3)`). All else happens on the thread. SIGPIPE is blocked there.
final class CurlExecutor: SerialExecutor {
  private struct Inbox {
    var jobs: [UnownedJob] = []
    var isStopping = false
    var isAsleep = false
  }

  /// What the thread does between jobs, on the thread.
  struct Turn: Sendable {
    /// Moves every transfer as far as it goes without waiting.
    let perform: @Sendable () -> Void
    /// Ends every transfer; called once, last.
    let finish: @Sendable () -> Void
  }

  // The multi handle is a C pointer, which is not Sendable by itself. It is written once in `init` and used on the
  // loop's thread, except for `curl_multi_wakeup`.
  nonisolated(unsafe) let multi: OpaquePointer
  private let inbox = Mutex(Inbox())
  private let thread = Mutex<pthread_t?>(nil)
  private let turn = Mutex<Turn?>(nil)

  init() {
    CurlLibrary.initialize()
    guard let multi = curl_multi_init() else {
      preconditionFailure("curl_multi_init failed: out of memory")
    }
    self.multi = OpaquePointer(multi)
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

  /// Lets the thread end after the jobs that are queued by now. Transfers that still run are dropped.
  func stop() {
    inbox.withLock { $0.isStopping = true }
    curl_multi_wakeup(multiPointer)
  }

  func enqueue(_ job: consuming ExecutorJob) {
    let job = UnownedJob(job)
    let mustWake = inbox.withLock { inbox in
      inbox.jobs.append(job)
      return inbox.isAsleep
    }
    if mustWake { curl_multi_wakeup(multiPointer) }
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
      ExitGate.pass {
        for job in jobs { job.runSynchronously(on: executor) }
        turn.perform()
      }
      let canSleep = inbox.withLock { inbox in
        inbox.isAsleep = inbox.jobs.isEmpty && !inbox.isStopping
        return inbox.isAsleep
      }
      // Without transfers this waits until it is woken: an idle loop costs nothing.
      if canSleep { curl_multi_poll(multiPointer, nil, 0, 3_600_000, nil) }
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

/// libcurl's global state, set up once a process (`curl_global_init(3)` is not thread-safe everywhere).
enum CurlLibrary {
  private static let once: Void = {
    curl_global_init(Int(TRANSFER_GLOBAL_DEFAULT))
    ExitGate.install()
  }()

  static func initialize() { _ = once }

  /// `7.88.1`
  static let version = String(cString: transfer_version())
}
