import Glibc

/// A value that one thread at a time uses, and that threads can wait for a change of (pthread_cond_wait(3p)).
///
/// `@unchecked Sendable`: the value is touched under the lock alone.
final class Monitor<Value>: @unchecked Sendable {
  private let mutex = UnsafeMutablePointer<pthread_mutex_t>.allocate(capacity: 1)
  private let condition = UnsafeMutablePointer<pthread_cond_t>.allocate(capacity: 1)
  private var value: Value

  init(_ value: sending Value) {
    self.value = value
    pthread_mutex_init(mutex, nil)
    var attributes = pthread_condattr_t()
    pthread_condattr_init(&attributes)
    // Not set by people, and not by the time that a machine sleeps.
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

  func withLock<Result>(_ body: (inout Value) -> Result) -> Result {
    pthread_mutex_lock(mutex)
    defer { pthread_mutex_unlock(mutex) }
    return body(&value)
  }

  /// Lets one waiting thread look again. After the lock was left, or it would wake up only to wait for that.
  func signal() { pthread_cond_signal(condition) }

  /// Blocks until `body` returns something, which it is asked for at once, and again after each ``signal()``.
  func wait<Result>(until body: (inout Value) -> Result?) -> Result {
    pthread_mutex_lock(mutex)
    defer { pthread_mutex_unlock(mutex) }
    while true {
      if let result = body(&value) { return result }
      pthread_cond_wait(condition, mutex)
    }
  }

  /// As above, but for so many seconds at most.
  /// - Parameter expired: asked, under the lock, when the time is over and `body` still has nothing.
  func wait<Result>(seconds: Int, until body: (inout Value) -> Result?, expired: (inout Value) -> Result) -> Result {
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
