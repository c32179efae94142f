import CLinux
import Glibc

/// Questions to the kernel about its routes and links, and its news about them. Of the network namespace that it was opened
/// in. Used by one thread at a time.
final class NetlinkSocket: Sendable {
  let descriptor: Int32

  /// `nil` where the kernel gives none: no descriptors left, or a sandbox without netlink.
  init?() {
    descriptor = linux_netlink_open()
    guard descriptor >= 0 else { return nil }
  }

  deinit { close(descriptor) }

  func setWatching(_ isWatching: Bool) -> Bool { linux_netlink_watch(descriptor, isWatching ? 1 : 0) == 0 }

  /// Throws all news away that came up to now. What they say is asked for afresh: the kernel does not tell of every
  /// change (routes that go with their link), and what it tells may get lost (ENOBUFS).
  func drain() {
    withUnsafeTemporaryAllocation(byteCount: 16384, alignment: 16) { buffer in
      while linux_netlink_receive(descriptor, buffer.baseAddress!, UInt64(buffer.count), 0) >= 0 || errno == ENOBUFS {}
    }
  }

  /// The way to an address of 4 or 16 bytes.
  /// - Returns: `nil` where the kernel did not answer.
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

  /// The kernel answers before the question's system call returns; the wait is for one that does not at all.
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

  /// Never 0, which is the kernel's own.
  private static func nextSequence() -> UInt32 { UInt32.random(in: 1 ... .max) }
}
