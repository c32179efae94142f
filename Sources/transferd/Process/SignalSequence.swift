import Glibc
import Synchronization
import Threads

/// Signals as a sequence of their numbers, in place of what they do by default. A thread waits for them (sigwait(3)): none is
/// lost between two looks, no other thread is interrupted, and nothing runs while there are none.
final class SignalSequence: Sendable {
  private let listener = Mutex<AsyncStream<Int32>.Continuation?>(nil)

  /// To be made before any thread is started: each inherits that it does not get these signals. Until somebody listens they
  /// do what they do by default. Programs that are started must be given an empty mask.
  init(_ signals: [Int32]) {
    var set = sigset_t()
    sigemptyset(&set)
    for signal in signals { sigaddset(&set, signal) }
    pthread_sigmask(SIG_BLOCK, &set, nil)
    let waited = set
    startThread("signals") { self.wait(waited) }
  }

  /// From now on. Called once.
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
