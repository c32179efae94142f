import Glibc

/// A value behind a lock, with a condition variable for threads that wait for a change (pthread_cond_wait(3p)).
///
/// `@unchecked Sendable`: the value is accessed only with the lock held.
package final class Monitor<Value>: @unchecked Sendable {
  private let mutex = UnsafeMutablePointer<pthread_mutex_t>.allocate(capacity: 1)
  private let condition = UnsafeMutablePointer<pthread_cond_t>.allocate(capacity: 1)
  private var value: Value

  package init(_ value: sending Value) {
    self.value = value
    pthread_mutex_init(mutex, nil)
    var attributes = pthread_condattr_t()
    pthread_condattr_init(&attributes)
    // Neither setting the wall clock nor suspending the machine changes this clock.
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC)
    pthread_cond_init(condition, &attributes)
    pthread_condattr_destroy(&attributes)
  }

  deinit {
    pthread_cond_destroy(condition)
    pthread_mutex_destroy(mutex)
    condition.deallocate()
    mutex.deallocate()
  }

  package func withLock<Result>(_ body: (inout Value) -> Result) -> Result {
    pthread_mutex_lock(mutex)
    defer { pthread_mutex_unlock(mutex) }
    return body(&value)
  }

  /// Wakes one waiting thread. Call it without the lock; otherwise the thread wakes up only to wait for the lock.
  package func signal() { pthread_cond_signal(condition) }

  /// Blocks until `body` returns a value. `body` is called with the lock held, at once and after each ``signal()``.
  package func wait<Result>(until body: (inout Value) -> Result?) -> Result {
    pthread_mutex_lock(mutex)
    defer { pthread_mutex_unlock(mutex) }
    while true {
      if let result = body(&value) { return result }
      pthread_cond_wait(condition, mutex)
    }
  }

  /// Blocks until `body` returns a value, at most for the given time.
  /// - Parameter expired: provides the result if `body` still returns `nil` when the time is over. Called with the lock
  ///   held.
  package func wait<Result>(seconds: Int, until body: (inout Value) -> Result?, expired: (inout Value) -> Result)
    -> Result
  {
    var end = timespec()
    clock_gettime(CLOCK_MONOTONIC, &end)
    end.tv_sec += seconds  // checked: a constant of this program
    pthread_mutex_lock(mutex)
    defer { pthread_mutex_unlock(mutex) }
    while true {
      if let result = body(&value) { return result }
      if pthread_cond_timedwait(condition, mutex, &end) == ETIMEDOUT { return body(&value) ?? expired(&value) }
    }
  }
}
