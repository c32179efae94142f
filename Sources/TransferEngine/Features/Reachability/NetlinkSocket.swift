import CLinux
import Glibc

/// Asks the kernel about routes and links, and receives its notifications, in the network namespace where it was
/// opened. Used by one thread at a time.
final class NetlinkSocket: Sendable {
  let descriptor: Int32

  /// `nil` if the kernel refuses: no descriptors left, or a sandbox without netlink.
  init?() {
    descriptor = linux_netlink_open()
    guard descriptor >= 0 else { return nil }
  }

  deinit { close(descriptor) }

  func setWatching(_ isWatching: Bool) -> Bool { linux_netlink_watch(descriptor, isWatching ? 1 : 0) == 0 }

  /// Discards all notifications so far. Their content is requested again: the kernel does not report every change
  /// (routes that go with their link), and notifications may get lost (ENOBUFS).
  func drain() {
    withUnsafeTemporaryAllocation(byteCount: 16384, alignment: 16) { buffer in
      while linux_netlink_receive(descriptor, buffer.baseAddress!, UInt64(buffer.count), 0) >= 0 || errno == ENOBUFS {}
    }
  }

  /// The route to an address of 4 or 16 bytes.
  /// - Returns: `nil` if the kernel did not respond.
  func path(to address: [UInt8]) -> NetworkPath? {
    let question = Self.nextSequence()
    guard linux_netlink_ask_route(descriptor, address, UInt32(address.count), question) == 0 else { return nil }
    switch answer(to: question) {
    case .route(let route):
      let link = route.interface.flatMap(link)
      return NetworkPath(route: route, link: link)
    case .error: return NetworkPath()
    default: return nil
    }
  }

  private func link(_ index: Int32) -> NetworkLink? {
    let question = Self.nextSequence()
    guard linux_netlink_ask_link(descriptor, index, question) == 0 else { return nil }
    if case .link(let link) = answer(to: question) { return link }
    return nil
  }

  /// The kernel responds before the system call that sends the request returns; the wait handles a missing response.
  private func answer(to sequence: UInt32) -> NetlinkMessage.Content? {
    withUnsafeTemporaryAllocation(byteCount: 32768, alignment: 16) { buffer in
      for _ in 0..<1000 {
        let count = linux_netlink_receive(descriptor, buffer.baseAddress!, UInt64(buffer.count), 1000)
        if count < 0, errno == ENOBUFS { continue }
        guard count >= 0 else { return nil }
        let messages = NetlinkMessage.all(in: UnsafeRawBufferPointer(rebasing: buffer[..<Int(count)]))
        if let message = messages.first(where: { $0.sequence == sequence }) { return message.content }
      }
      return nil
    }
  }

  /// Never 0, which marks notifications.
  private static func nextSequence() -> UInt32 { UInt32.random(in: 1 ... .max) }
}
