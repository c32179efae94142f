import CLinux
import Glibc

/// Waits for many descriptors with epoll(7). A wait costs as much as there are ready descriptors, however many are watched.
///
/// Used by one thread, except for `wakeUp()`. `@unchecked Sendable` for that call: it reads only what never changes.
final class EventPoll: @unchecked Sendable {
  struct Interest: OptionSet {
    let rawValue: Int32

    static let reading = Interest(rawValue: Int32(LINUX_READING))
    static let writing = Interest(rawValue: Int32(LINUX_WRITING))
  }

  struct Event {
    let descriptor: Int32
    /// What can be done now.
    let ready: Interest
    /// There is an error, or both directions have ended.
    let isFailing: Bool
  }

  private let poll: Int32
  private let wakeup: Int32
  private let buffer = UnsafeMutablePointer<linux_ready>.allocate(capacity: Int(LINUX_READY_COUNT))

  init() {
    poll = linux_poll_open()
    wakeup = linux_wakeup_open()
    precondition(poll >= 0 && wakeup >= 0, "cannot make an event loop: \(String(cString: strerror(errno)))")
    // Edges need no read, so a wake-up costs one call.
    let code = linux_poll_watch(poll, wakeup, Int32(LINUX_READING) | Int32(LINUX_EDGES), 0)
    precondition(code == 0, "epoll_ctl: \(String(cString: strerror(errno)))")
  }

  deinit {
    close(poll)
    close(wakeup)
    buffer.deallocate()
  }

  /// Ends the current wait, or the next one. Any thread may call it.
  func wakeUp() { linux_wakeup_send(wakeup) }

  /// - Parameter isWatched: what the caller believes. It may be wrong: the kernel forgets a descriptor that is closed, and its
  ///   number may already belong to another file.
  /// - Returns: 0, or the error number.
  func watch(_ descriptor: Int32, for interest: Interest, isWatched: Bool) -> Int32 {
    if linux_poll_watch(poll, descriptor, interest.rawValue, isWatched ? 1 : 0) == 0 { return 0 }
    guard errno == (isWatched ? ENOENT : EEXIST) else { return errno }
    return linux_poll_watch(poll, descriptor, interest.rawValue, isWatched ? 0 : 1) == 0 ? 0 : errno
  }

  /// Does nothing if the descriptor is not watched, or is closed.
  func forget(_ descriptor: Int32) { _ = linux_poll_forget(poll, descriptor) }

  /// Waits until something is ready or `wakeUp` was called, at most for the given time.
  func wait(milliseconds: Int32, _ body: (Event) -> Void) {
    let count = linux_poll_wait(poll, buffer, milliseconds)
    // An interrupted wait finds nothing.
    guard count > 0 else { return }
    for ready in UnsafeBufferPointer(start: buffer, count: Int(count)) where ready.descriptor != wakeup {
      body(
        Event(
          descriptor: ready.descriptor, ready: Interest(rawValue: ready.state).intersection([.reading, .writing]),
          isFailing: ready.state & Int32(LINUX_FAILING) != 0))
    }
  }
}
