import Glibc
import Synchronization
import Threads

/// An asynchronous sequence of signal numbers, which replaces the default actions of the signals. A thread waits for them
/// with sigwait(3), so no signal is lost, no other thread is interrupted, and the thread sleeps while there are none.
final class SignalSequence: Sendable {
  private let listener = Mutex<AsyncStream<Int32>.Continuation?>(nil)

  /// Blocks the signals and starts the waiting thread. Call this before any other thread starts, because threads inherit
  /// the signal mask. Until ``listen()`` is called, the signals have their default actions. Child processes must be started
  /// with an empty signal mask.
  init(_ signals: [Int32]) {
    var set = sigset_t()
    sigemptyset(&set)
    for signal in signals { sigaddset(&set, signal) }
    pthread_sigmask(SIG_BLOCK, &set, nil)
    let waited = set
    startThread("signals") { self.wait(waited) }
  }

  /// The signals from now on. Call it only once.
  func listen() -> AsyncStream<Int32> {
    let (stream, continuation) = AsyncStream<Int32>.makeStream()
    listener.withLock { $0 = continuation }
    return stream
  }

  private func wait(_ signals: sigset_t) {
    var signals = signals
    while true {
      var signal: Int32 = 0
      guard sigwait(&signals, &signal) == 0 else { continue }
      if let listener = listener.withLock({ $0 }) {
        listener.yield(signal)
      } else {
        pthread_sigmask(SIG_UNBLOCK, &signals, nil)
        raise(signal)
      }
    }
  }

  /// `SIGTERM` and the like.
  static func name(_ signal: Int32) -> String {
    switch signal {
    case SIGHUP: "SIGHUP"
    case SIGINT: "SIGINT"
    case SIGTERM: "SIGTERM"
    default: "signal \(signal)"
    }
  }
}
