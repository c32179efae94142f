import CLinux
import Glibc
import Synchronization

/// Reports when the wall clock was set: by a person, at the first contact with a time server, or after the machine was suspended.
/// Nothing wakes up for it in between.
package enum ClockChanges {
  /// The descriptor that is read; -1 before the first stream. For tests.
  static let descriptor = Mutex<Int32>(-1)

  /// An element for each time the clock was set. Ends at once if the kernel cannot tell. Use it once: each stream has a thread.
  package static func stream() -> AsyncStream<Void> {
    let (stream, changes) = AsyncStream<Void>.makeStream(bufferingPolicy: .bufferingNewest(1))
    let timer = linux_clock_watch()
    guard timer >= 0 else {
      changes.finish()
      return stream
    }
    descriptor.withLock { $0 = timer }
    startThread("clock") {
      var expirations: UInt64 = 0
      while true {
        // ECANCELED: the clock was set (timerfd_create(2)). The timer is in the far future, and set again for the next change.
        if read(timer, &expirations, 8) < 0, errno == EINTR { continue }
        changes.yield()
        guard linux_clock_watch_again(timer) == 0 else { return changes.finish() }
      }
    }
    return stream
  }
}
