import Glibc

/// Keeps the loops' threads out of libcurl once the process ends.
///
/// exit(3) lets OpenSSL and its like free what they hold (atexit(3)) while other threads still run. A loop whose session has
/// just gone says goodbye on its connections at that very moment, and a program that had done all it should would end with
/// SIGSEGV. So loops use libcurl only as readers of one lock, and what runs first at exit takes it for good.
enum ExitGate {
  /// How long the end of the process waits for loops that are busy; one of them may itself have called exit(3).
  private static let patience = 1

  // Made once and never changed or freed: its address has to stay, for a thread may wait at it until the process is gone.
  nonisolated(unsafe) private static let lock: UnsafeMutablePointer<pthread_rwlock_t> = {
    let lock = UnsafeMutablePointer<pthread_rwlock_t>.allocate(capacity: 1)
    var attributes = pthread_rwlockattr_t()
    pthread_rwlockattr_init(&attributes)
    // Loops come again and again: who closes the gate must not wait until none happens to be inside.
    pthread_rwlockattr_setkind_np(&attributes, Int32(PTHREAD_RWLOCK_PREFER_WRITER_NONRECURSIVE_NP))
    pthread_rwlock_init(lock, &attributes)
    return lock
  }()

  /// To be called after libcurl was set up: what is registered last runs first.
  static func install() {
    _ = lock
    atexit { ExitGate.close() }
  }

  /// Runs the closure, unless the process ends: then this never returns. Not to be nested.
  static func pass<Result>(_ body: () -> Result) -> Result {
    pthread_rwlock_rdlock(lock)
    defer { pthread_rwlock_unlock(lock) }
    return body()
  }

  private static func close() {
    var deadline = timespec()
    clock_gettime(CLOCK_REALTIME, &deadline)
    deadline.tv_sec += patience  // checked: a constant of this program
    pthread_rwlock_timedwrlock(lock, &deadline)
  }
}
