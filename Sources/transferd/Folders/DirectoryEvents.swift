import CLinux
import Glibc
import Threads

/// Reports that something in some directories has changed (inotify(7)), but not what: the directories are scanned again, so that
/// lost events (`IN_Q_OVERFLOW`) do no harm. Uses one descriptor and one thread, which sleeps while nothing changes.
final class DirectoryEvents: Sendable {
  private let descriptor: Int32
  /// Closed at the end; the thread watches the other end.
  private let end: Int32

  private static let mask = UInt32(
    IN_CREATE | IN_CLOSE_WRITE | IN_MOVED_TO | IN_MOVED_FROM | IN_DELETE_SELF | IN_MOVE_SELF | IN_ATTRIB | IN_ONLYDIR)

  /// - Parameter onEvents: called on the thread.
  /// - Returns: `nil` if the kernel allows no further instance.
  init?(onEvents: @escaping @Sendable () -> Void) {
    var ends: [Int32] = [-1, -1]
    guard linux_socket_pair(&ends) == 0 else { return nil }
    let descriptor = inotify_init1(Int32(IN_CLOEXEC) | Int32(IN_NONBLOCK))
    guard descriptor >= 0 else {
      for end in ends { close(end) }
      return nil
    }
    self.descriptor = descriptor
    end = ends[1]
    let stop = ends[0]
    startThread("folder") {
      while Self.waits(for: descriptor, orEnd: stop) {
        Self.drain(descriptor)
        onEvents()
      }
      close(stop)
      close(descriptor)
    }
  }

  deinit { close(end) }

  /// Watches an open directory from now on, whatever its path leads to; one that is watched already costs nothing.
  /// - Returns: `false` if the kernel allows no further directory.
  func watch(_ directory: Int32) -> Bool {
    inotify_add_watch(descriptor, "/proc/self/fd/\(directory)/.", Self.mask) >= 0
  }

  private static func drain(_ descriptor: Int32) {
    withUnsafeTemporaryAllocation(byteCount: 1 << 16, alignment: 16) { buffer in
      while read(descriptor, buffer.baseAddress!, buffer.count) > 0 {}
    }
  }

  /// - Returns: `false` at the end.
  private static func waits(for descriptor: Int32, orEnd end: Int32) -> Bool {
    var descriptors = [
      pollfd(fd: end, events: Int16(POLLIN), revents: 0), pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0),
    ]
    while poll(&descriptors, 2, -1) < 0 { guard errno == EINTR else { return false } }
    return descriptors[0].revents == 0
  }
}
