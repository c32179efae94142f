import Glibc
import Threads

/// A thread that waits for the kernel's news on a socket, and calls as soon as there are some: of a flood of them at most ten
/// times a second, and once more when it is over.
final class NetlinkWatch: Sendable {
  private let news: NetlinkSocket
  /// Closed when it is over; the thread waits for that at the other end.
  private let end: Int32

  private static let interval: Int32 = 100

  /// - Parameters:
  ///   - news: belongs to the thread for as long as this object lives.
  ///   - onNews: on the thread.
  /// - Returns: `nil` where the kernel does not let us listen.
  init?(_ news: NetlinkSocket, onNews: @escaping @Sendable () -> Void) {
    var ends: [Int32] = [-1, -1]
    let kind = Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue)
    guard socketpair(AF_UNIX, kind, 0, &ends) == 0 else { return nil }
    self.news = news
    end = ends[1]
    let stop = ends[0]
    guard news.setWatching(true) else {
      close(stop)
      return nil
    }
    // What it said while nobody listened.
    news.drain()
    startThread("netlink") {
      while Self.waits(for: news.descriptor, orEnd: stop, milliseconds: -1) {
        news.drain()
        onNews()
        // News that come meanwhile are looked at together, when the interval is over.
        guard Self.waits(for: nil, orEnd: stop, milliseconds: Self.interval) else { break }
      }
      close(stop)
    }
  }

  deinit { close(end) }

  /// - Returns: `false` when it is over.
  private static func waits(for news: Int32?, orEnd end: Int32, milliseconds: Int32) -> Bool {
    var descriptors = [
      pollfd(fd: end, events: Int16(POLLIN), revents: 0), pollfd(fd: news ?? -1, events: Int16(POLLIN), revents: 0),
    ]
    while poll(&descriptors, 2, milliseconds) < 0 { guard errno == EINTR else { return false } }
    return descriptors[0].revents == 0
  }
}
