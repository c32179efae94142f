import CLinux
import Glibc
import Threads

/// A thread that waits for the kernel's notifications and calls back at once: at most ten times a second, and once more
/// after the last notification.
final class NetlinkWatch: Sendable {
  private let news: NetlinkSocket
  /// Closed at the end; the thread watches the other end.
  private let end: Int32

  private static let interval: Int32 = 100

  /// - Parameters:
  ///   - news: used by the thread for the lifetime of this object.
  ///   - onNews: called on the thread.
  /// - Returns: `nil` if the kernel does not allow it.
  init?(_ news: NetlinkSocket, onNews: @escaping @Sendable () -> Void) {
    var ends: [Int32] = [-1, -1]
    guard linux_socket_pair(&ends) == 0 else { return nil }
    self.news = news
    end = ends[1]
    let stop = ends[0]
    guard news.setWatching(true) else {
      close(stop)
      return nil
    }
    // Discards notifications from before the start.
    news.drain()
    startThread("netlink") {
      while Self.waits(for: news.descriptor, orEnd: stop, milliseconds: -1) {
        news.drain()
        onNews()
        // Notifications that arrive during the interval are handled together.
        guard Self.waits(for: nil, orEnd: stop, milliseconds: Self.interval) else { break }
      }
      close(stop)
    }
  }

  deinit { close(end) }

  /// - Returns: `false` at the end.
  private static func waits(for news: Int32?, orEnd end: Int32, milliseconds: Int32) -> Bool {
    var descriptors = [
      pollfd(fd: end, events: Int16(POLLIN), revents: 0), pollfd(fd: news ?? -1, events: Int16(POLLIN), revents: 0),
    ]
    while poll(&descriptors, 2, milliseconds) < 0 { guard errno == EINTR else { return false } }
    return descriptors[0].revents == 0
  }
}
