import Dispatch
import Foundation
import TestSupport
import Testing

@testable import TransferEngine

private typealias Status = NetworkReachabilityManager.NetworkReachabilityStatus

/// In networks of their own, with the kernel as it is. Needs root.
@Suite(.timeLimit(.minutes(5))) struct NetworkReachabilityManagerTests {
  /// A namespace with a cable: `name` here, the other end is `far`.
  private static func network(cable name: String = "near") async throws -> NetworkNamespace {
    let network = try await NetworkNamespace()
    try await network.ip("link add \(name) type veth peer name far")
    try await network.ip("address add 192.0.2.2/24 dev \(name)")
    try await network.ip("link set far up")
    try await network.ip("link set \(name) up")
    return network
  }

  /// What a listener heard.
  private final class Ear: Sendable {
    let heard = Watched<[Status]>([])
    /// One status after the other.
    let queue = DispatchQueue(label: "ear")
    func listen(_ status: Status) { heard.mutate { $0.append(status) } }

    func wait(for status: Status) async throws {
      try await heard.wait(for: "\(status)") { $0.last == status ? () : nil }
    }
  }

  /// The kernel tells a link's new state a moment after it was asked for it.
  private static func wait(for status: Status, of manager: NetworkReachabilityManager) async throws {
    let end = ContinuousClock.now + .seconds(60)
    while manager.status != status, .now < end { try await Task.sleep(for: .milliseconds(20)) }
    #expect(manager.status == status)
  }

  private static func manager(_ network: NetworkNamespace, host: String? = nil) async throws
    -> NetworkReachabilityManager
  {
    try #require(
      await network.run { host.map { NetworkReachabilityManager(host: $0) } ?? NetworkReachabilityManager() })
  }

  @Test("nothing, a cable, a way out, no cable, a cable again, no way out")
  func story() async throws {
    let network = try await Self.network()
    let manager = try await Self.manager(network)
    let ear = Ear()
    #expect(manager.startListening(onQueue: ear.queue) { ear.listen($0) })
    try await ear.wait(for: .notReachable)
    try await network.ip("route add default via 192.0.2.1")
    try await ear.wait(for: .reachable(.ethernetOrWiFi))
    #expect(manager.isReachable && manager.isReachableOnEthernetOrWiFi && !manager.isReachableOnCellular)
    try await network.ip("link set far down")
    try await ear.wait(for: .notReachable)
    try await network.ip("link set far up")
    try await ear.wait(for: .reachable(.ethernetOrWiFi))
    try await network.ip("route del default")
    try await ear.wait(for: .notReachable)
    // A tunnel takes over with two halves of the world, without a default route.
    try await network.ip("route add 128.0.0.0/1 via 192.0.2.1")
    try await ear.wait(for: .reachable(.ethernetOrWiFi))
    try await network.ip("link set near down")
    try await ear.wait(for: .notReachable)
    #expect(ear.heard.value.count == 7)
    manager.stopListening()
  }

  @Test("IPv6 alone is a usable route; a refusing route is not")
  func ipv6() async throws {
    let network = try await Self.network()
    let manager = try await Self.manager(network)
    try await network.ip("-6 address add 2001:db8:1::2/64 dev near nodad")
    #expect(manager.status == .notReachable)
    try await network.ip("-6 route add default via 2001:db8:1::1")
    try await Self.wait(for: .reachable(.ethernetOrWiFi), of: manager)
    try await network.ip("-6 route replace unreachable default metric 1")
    #expect(manager.status == .notReachable)
    try await network.ip("route add blackhole default")
    #expect(manager.status == .notReachable)
  }

  @Test("a modem by its name")
  func cellular() async throws {
    let network = try await Self.network(cable: "wwan0")
    let manager = try await Self.manager(network)
    try await network.ip("route add default via 192.0.2.1")
    try await Self.wait(for: .reachable(.cellular), of: manager)
    #expect(manager.isReachableOnCellular)
  }

  @Test("a host has a way of its own")
  func host() async throws {
    let network = try await Self.network()
    let neighbour = try await Self.manager(network, host: "192.0.2.7")
    let far = try await Self.manager(network, host: "198.51.100.7")
    let here = try await Self.manager(network, host: "127.0.0.1")
    let byName = try await Self.manager(network, host: "localhost")
    let nowhere = try await Self.manager(network, host: "nowhere.invalid")
    try await Self.wait(for: .reachable(.ethernetOrWiFi), of: neighbour)
    #expect(far.status == .notReachable)
    #expect(here.status == .notReachable)  // even loopback is down
    try await network.ip("link set lo up")
    try await Self.wait(for: .reachable(.ethernetOrWiFi), of: here)
    try await Self.wait(for: .reachable(.ethernetOrWiFi), of: byName)
    #expect(nowhere.status == .notReachable)
    try await network.ip("route add 198.51.100.0/24 via 192.0.2.1")
    try await Self.wait(for: .reachable(.ethernetOrWiFi), of: far)
    #expect(try await Self.manager(network, host: "[::1]").status == .reachable(.ethernetOrWiFi))
  }

  @Test("several streams and a listener work together and end independently")
  func streams() async throws {
    let network = try await Self.network()
    let manager = try await Self.manager(network)
    var first = manager.statuses().makeAsyncIterator()
    #expect(await first.next() == .notReachable)
    let ear = Ear()
    #expect(manager.startListening(onQueue: ear.queue) { ear.listen($0) })
    try await network.ip("route add default via 192.0.2.1")
    #expect(await first.next() == .reachable(.ethernetOrWiFi))
    let second = Task {
      var seen: [Status] = []
      for await status in manager.statuses() {
        seen.append(status)
        if status == .notReachable { break }
      }
      return seen
    }
    try await ear.wait(for: .reachable(.ethernetOrWiFi))
    manager.stopListening()
    // The second stream may not have begun; what it sees ends the same way.
    try await network.ip("route del default")
    #expect(await first.next() == .notReachable)
    #expect(await second.value.last == .notReachable)
    #expect(ear.heard.value.first == .notReachable && ear.heard.value.last == .reachable(.ethernetOrWiFi))
  }

  @Test("a listener that begins while the last one ends gets all changes")
  func handover() async throws {
    let network = try await Self.network()
    let manager = try await Self.manager(network)
    for round in 0..<20 {
      let ear = Ear()
      let other = manager.statuses()
      await withTaskGroup(of: Void.self) { group in
        group.addTask {
          let task = Task { for await _ in other {} }
          task.cancel()
          await task.value
        }
        group.addTask { #expect(manager.startListening(onQueue: ear.queue) { ear.listen($0) }) }
      }
      let isReachable = round % 2 == 1
      try await ear.wait(for: isReachable ? .reachable(.ethernetOrWiFi) : .notReachable)
      try await network.ip("route \(isReachable ? "del default" : "add default via 192.0.2.1")")
      try await ear.wait(for: isReachable ? .notReachable : .reachable(.ethernetOrWiFi))
      manager.stopListening()
    }
  }

  @Test("stopping and starting again begins with the status of that moment")
  func again() async throws {
    let network = try await Self.network()
    let manager = try await Self.manager(network)
    for round in 0..<20 {
      let ear = Ear()
      #expect(manager.startListening(onQueue: ear.queue) { ear.listen($0) })
      let isReachable = round % 2 == 1
      try await ear.wait(for: isReachable ? .reachable(.ethernetOrWiFi) : .notReachable)
      try await network.ip("route \(isReachable ? "del default" : "add default via 192.0.2.1")")
      try await ear.wait(for: isReachable ? .notReachable : .reachable(.ethernetOrWiFi))
      manager.stopListening()
    }
  }

  @Test("a flood of news ends with the truth")
  func flood() async throws {
    let network = try await Self.network()
    let manager = try await Self.manager(network)
    let ear = Ear()
    #expect(manager.startListening(onQueue: ear.queue) { ear.listen($0) })
    let directory = try TemporaryDirectory()
    let lines = (0..<20_000).map { "route add 10.\($0 / 250).\($0 % 250).0/24 via 192.0.2.1" }
    try directory.file("batch", text: lines.joined(separator: "\n") + "\nroute add default via 192.0.2.1\n")
    try await network.ip("-batch \(directory.path("batch"))")
    try await ear.wait(for: .reachable(.ethernetOrWiFi))
    #expect(ear.heard.value == [.notReachable, .reachable(.ethernetOrWiFi)])
  }

  @Test("nothing runs while nothing changes")
  func idle() async throws {
    let network = try await Self.network()
    let manager = try await Self.manager(network)
    let ear = Ear()
    #expect(manager.startListening(onQueue: ear.queue) { ear.listen($0) })
    try await ear.wait(for: .notReachable)
    // The kernel has news for a while yet (IPv6 checks that its address is nobody else's); then there is silence.
    try await Self.waitForSilence(manager)
    // A question is not news.
    for _ in 0..<100 { #expect(manager.status == .notReachable) }
    try await Self.waitForSilence(manager)
    _ = network
  }

  private static func waitForSilence(_ manager: NetworkReachabilityManager) async throws {
    var questions = -1
    for _ in 0..<20 where manager.questionCount != questions {
      questions = manager.questionCount
      try await Task.sleep(for: .milliseconds(500))
    }
    #expect(manager.questionCount == questions)
  }

  @Test("a released manager leaves no descriptor")
  func descriptors() async throws {
    let network = try await Self.network()
    let queue = DispatchQueue(label: "nobody")
    let before = try Self.openSockets()
    for _ in 0..<200 {
      let manager = try await Self.manager(network)
      #expect(manager.startListening(onQueue: queue) { _ in })
      var stream = manager.statuses().makeAsyncIterator()
      _ = await stream.next()
    }
    // Other tests have a few of their own; two hundred would show all the same.
    let end = ContinuousClock.now + .seconds(60)
    while try Self.openSockets() > before + 100, .now < end { try await Task.sleep(for: .milliseconds(50)) }
    #expect(try Self.openSockets() < before + 100)
  }

  /// Sockets of netlink(7): what a manager opens, and little else does.
  private static func openSockets() throws -> Int {
    try FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd").count { name in
      var domain: Int32 = 0
      var size = socklen_t(MemoryLayout<Int32>.size)
      guard let descriptor = Int32(name) else { return false }
      return getsockopt(descriptor, SOL_SOCKET, SO_DOMAIN, &domain, &size) == 0 && domain == AF_NETLINK
    }
  }
}
