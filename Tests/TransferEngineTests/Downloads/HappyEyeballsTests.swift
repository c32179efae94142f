import Foundation
import Glibc
import TestSupport
import Testing

@testable import TransferEngine

/// libcurl resolves `localhost` to ::1 and 127.0.0.1, in this order.
@Suite(.timeLimit(.minutes(5))) struct HappyEyeballsTests {
  @Test(
    "a download uses IPv4 if the IPv6 address refuses or ignores the connection", arguments: [true, false])
  func deadIPv6(isSilent: Bool) async throws {
    let payload = Payload(size: 100_000)
    let server = try LoopbackServer(.file(payload))
    let hole = isSilent ? try BlackHole(port: server.port) : nil
    let fixture = try DownloadFixture()
    let request = TransferRequest(url: try RequestURL("http://localhost:\(server.port)/file.bin"))
    let response = try await fixture.download(request).response()
    #expect(response.error == nil)
    #expect(response.metrics.last?.remoteAddress == "127.0.0.1:\(server.port)")
    // This is less than the connect timeout.
    #expect(try #require(response.metrics.last).connect < .seconds(20))
    try fixture.expectOnly(payload)
    _ = hole
  }
}

/// A socket on ::1 that ignores each SYN, because its queue of connections is full and never emptied (listen(2)).
private final class BlackHole {
  private var descriptors: [Int32] = []

  init(port: UInt16) throws {
    let listener = socket(AF_INET6, Int32(SOCK_STREAM.rawValue), 0)
    try #require(listener >= 0)
    descriptors.append(listener)
    var only: Int32 = 1
    setsockopt(listener, Int32(IPPROTO_IPV6), IPV6_V6ONLY, &only, 4)
    try #require(Self.call(bind, listener, port) == 0, "there is no ::1 here")
    try #require(listen(listener, 0) == 0)
    for _ in 0..<4 {
      let filler = socket(AF_INET6, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_NONBLOCK.rawValue), 0)
      descriptors.append(filler)
      _ = Self.call(connect, filler, port)
    }
  }

  deinit { for descriptor in descriptors { close(descriptor) } }

  private static func call(
    _ function: (Int32, UnsafePointer<sockaddr>, socklen_t) -> Int32, _ descriptor: Int32, _ port: UInt16
  ) -> Int32 {
    var address = sockaddr_in6()
    address.sin6_family = sa_family_t(AF_INET6)
    address.sin6_port = port.bigEndian
    inet_pton(AF_INET6, "::1", &address.sin6_addr)
    return withUnsafePointer(to: &address) {
      $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        function(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in6>.size))
      }
    }
  }
}
