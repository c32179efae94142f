import Glibc

/// Keeps the loops' threads out of libcurl when the process ends.
///
/// exit(3) runs the cleanup of OpenSSL and other libraries (atexit(3)) while other threads still run. A loop whose
/// session has just been released may be closing its connections at that moment, and the program would end with
/// SIGSEGV. So loops use libcurl only while they hold a lock for reading, and the first function at exit takes the lock
/// for writing and never releases it.
enum ExitGate {
  /// Seconds that the end of the process waits for busy loops; one of them may have called exit(3) itself.
  private static let patience = 1

  // Created once, never changed or freed: threads may wait for it until the process is gone.
  nonisolated(unsafe) private static let lock: UnsafeMutablePointer<pthread_rwlock_t> = {
    let lock = UnsafeMutablePointer<pthread_rwlock_t>.allocate(capacity: 1)
    var attributes = pthread_rwlockattr_t()
    pthread_rwlockattr_init(&attributes)
    // Loops take the lock again and again: prefer the writer, or it would wait for a moment without readers.
    pthread_rwlockattr_setkind_np(&attributes, Int32(PTHREAD_RWLOCK_PREFER_WRITER_NONRECURSIVE_NP))
    pthread_rwlock_init(lock, &attributes)
    return lock
  }()

  /// Call it after libcurl was initialised: functions that are registered last run first.
  static func install() {
    _ = lock
    atexit { ExitGate.close() }
  }

  /// Runs the closure, unless the process is ending: then this never returns. Must not be nested.
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
