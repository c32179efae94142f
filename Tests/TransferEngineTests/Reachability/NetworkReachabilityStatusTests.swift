import Testing

@testable import TransferEngine

private typealias Status = NetworkReachabilityManager.NetworkReachabilityStatus

@Suite struct NetworkReachabilityStatusTests {
  private static func path(
    _ name: String? = "eth0", up: Bool = true, running: Bool = true, leads: Bool = true, type: UInt16 = 1
  ) -> NetworkPath {
    NetworkPath(
      route: NetworkRoute(interface: 2, leadsSomewhere: leads),
      link: name.map { NetworkLink(index: 2, name: $0, hardwareType: type, isUp: up, isRunning: running) })
  }

  @Test(
    "the first usable path decides the status",
    arguments: [
      ([], .notReachable), ([NetworkPath()], .notReachable), ([path()], .reachable(.ethernetOrWiFi)),
      ([path("wlan0")], .reachable(.ethernetOrWiFi)), ([path("wlp3s0")], .reachable(.ethernetOrWiFi)),
      ([path("wwan0")], .reachable(.cellular)), ([path("wwp0s20u4")], .reachable(.cellular)),
      ([path("rmnet_data0", type: 519)], .reachable(.cellular)), ([path("modem", type: 519)], .reachable(.cellular)),
      ([path("ppp0", type: 512)], .reachable(.ethernetOrWiFi)), ([path(running: false)], .notReachable),
      ([path(up: false)], .notReachable), ([path(leads: false)], .notReachable),
      ([NetworkPath(), path()], .reachable(.ethernetOrWiFi)),
      ([path(running: false), path("wwan0")], .reachable(.cellular)),
      ([path(), path("wwan0")], .reachable(.ethernetOrWiFi)), ([path(nil)], .reachable(.ethernetOrWiFi)),
    ] as [([NetworkPath], NetworkReachabilityManager.NetworkReachabilityStatus)])
  func table(_ paths: [NetworkPath], _ expected: NetworkReachabilityManager.NetworkReachabilityStatus) {
    #expect(Status(paths) == expected)
  }
}

@Suite struct NetlinkMessageTests {
  /// Builds netlink messages like the kernel.
  private struct Bytes {
    var bytes: [UInt8] = []

    func adding<Number: FixedWidthInteger>(_ number: Number) -> Bytes {
      Bytes(bytes: bytes + withUnsafeBytes(of: number, Array.init))
    }

    static func message(_ type: UInt16, sequence: UInt32, _ body: [UInt8]) -> [UInt8] {
      let head = Bytes().adding(UInt32(16 + body.count)).adding(type).adding(UInt16(0)).adding(sequence).adding(
        UInt32(0))
      return padded(head.bytes + body)
    }

    static func attribute(_ type: UInt16, _ value: [UInt8]) -> [UInt8] {
      padded(Bytes().adding(UInt16(4 + value.count)).adding(type).bytes + value)
    }

    static func padded(_ bytes: [UInt8]) -> [UInt8] {
      bytes + [UInt8](repeating: 0, count: (4 - bytes.count % 4) % 4)
    }
  }

  private static func read(_ bytes: [UInt8]) -> [NetlinkMessage] {
    bytes.withUnsafeBytes { NetlinkMessage.all(in: $0) }
  }

  private static let link = Bytes.message(
    16, sequence: 7,
    Bytes().adding(UInt16(0)).adding(UInt16(1)).adding(Int32(2)).adding(UInt32(0x41)).adding(UInt32(0)).bytes
      + Bytes.attribute(1, [1, 2, 3, 4, 5, 6]) + Bytes.attribute(3, Array("eth0\0".utf8)))
  private static let route = Bytes.message(
    24, sequence: 8, [2, 32, 0, 0, 254, 2, 0, 1, 0, 0, 0, 0] + Bytes.attribute(4, Bytes().adding(Int32(2)).bytes))
  private static let refusal = Bytes.message(2, sequence: 9, Bytes().adding(Int32(-101)).bytes)

  @Test("a datagram with several netlink messages is parsed")
  func several() {
    let messages = Self.read(Self.link + Self.route + Self.refusal + Bytes.message(20, sequence: 0, [1, 2, 3, 4]))
    #expect(
      messages == [
        .init(
          sequence: 7,
          content: .link(.init(index: 2, name: "eth0", hardwareType: 1, isUp: true, isRunning: true))),
        .init(sequence: 8, content: .route(.init(interface: 2, leadsSomewhere: true))),
        .init(sequence: 9, content: .error(101)), .init(sequence: 0, content: .other(20)),
      ])
  }

  @Test(
    "the type of a route decides whether it is usable",
    arguments: [(1, true), (2, true), (3, false), (6, false), (7, false), (8, false)])
  func types(_ type: UInt8, _ leadsSomewhere: Bool) {
    let messages = Self.read(Bytes.message(24, sequence: 1, [2, 32, 0, 0, 254, 2, 0, type, 0, 0, 0, 0]))
    #expect(messages == [.init(sequence: 1, content: .route(.init(interface: nil, leadsSomewhere: leadsSomewhere)))])
  }

  @Test("truncated and changed netlink messages do not crash the parser")
  func mangled() {
    let whole = Self.link + Self.route + Self.refusal
    for count in 0..<whole.count { _ = Self.read(Array(whole[..<count])) }
    for index in whole.indices {
      for value: UInt8 in [0, 1, 0x7F, 0x80, 0xFF] {
        var copy = whole
        copy[index] = value
        _ = Self.read(copy)
      }
    }
    #expect(Self.read([]) == [])
    #expect(Self.read([UInt8](repeating: 0, count: 64)) == [])
    #expect(Self.read([UInt8](repeating: 0xFF, count: 64)) == [])
  }
}
