import Dispatch
import Foundation
import TestSupport
import Testing

@testable import TransferEngine

private typealias Status = NetworkReachabilityManager.NetworkReachabilityStatus

/// Tests in separate network namespaces with the real kernel. Needs root.
@Suite(.timeLimit(.minutes(5))) struct NetworkReachabilityManagerTests {
  /// A network namespace with a virtual cable between the interfaces `name` and `far`.
  private static func network(cable name: String = "near") async throws -> NetworkNamespace {
    let network = try await NetworkNamespace()
    try await network.ip("link add \(name) type veth peer name far")
    try await network.ip("address add 192.0.2.2/24 dev \(name)")
    try await network.ip("link set far up")
    try await network.ip("link set \(name) up")
    return network
  }

  /// Stores the statuses that a listener gets.
  private final class Ear: Sendable {
    let heard = Watched<[Status]>([])
    /// A serial queue for the listener.
    let queue = DispatchQueue(label: "ear")
    func listen(_ status: Status) { heard.mutate { $0.append(status) } }

    func wait(for status: Status) async throws {
      try await heard.wait(for: "\(status)") { $0.last == status ? () : nil }
    }
  }

  /// Waits, because the kernel reports a link's new state with a short delay.
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

  @Test("the status follows changes of the cable and the routes")
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
    // A VPN often adds two routes for halves of the address space instead of a default route.
    try await network.ip("route add 128.0.0.0/1 via 192.0.2.1")
    try await ear.wait(for: .reachable(.ethernetOrWiFi))
    try await network.ip("link set near down")
    try await ear.wait(for: .notReachable)
    #expect(ear.heard.value.count == 7)
    manager.stopListening()
  }

  @Test("an IPv6 route alone makes the status reachable; an unreachable or blackhole route does not")
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

  @Test("an interface named wwan0 is reported as cellular")
  func cellular() async throws {
    let network = try await Self.network(cable: "wwan0")
    let manager = try await Self.manager(network)
    try await network.ip("route add default via 192.0.2.1")
    try await Self.wait(for: .reachable(.cellular), of: manager)
    #expect(manager.isReachableOnCellular)
  }

  @Test("the status of a host depends on the route to that host")
  func host() async throws {
    let network = try await Self.network()
    let neighbour = try await Self.manager(network, host: "192.0.2.7")
    let far = try await Self.manager(network, host: "198.51.100.7")
    let here = try await Self.manager(network, host: "127.0.0.1")
    let byName = try await Self.manager(network, host: "localhost")
    let nowhere = try await Self.manager(network, host: "nowhere.invalid")
    try await Self.wait(for: .reachable(.ethernetOrWiFi), of: neighbour)
    #expect(far.status == .notReachable)
    #expect(here.status == .notReachable)  // the loopback interface is down too
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
    // The second stream may not have started yet; its last status is the same.
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

  @Test("a restarted listener first gets the current status")
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

  @Test("after 20,000 route changes the listener has the correct status")
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

  @Test("the kernel is not queried while nothing changes")
  func idle() async throws {
    let network = try await Self.network()
    let manager = try await Self.manager(network)
    let ear = Ear()
    #expect(manager.startListening(onQueue: ear.queue) { ear.listen($0) })
    try await ear.wait(for: .notReachable)
    // The kernel sends messages for some time, because IPv6 checks its address for duplicates. Then they stop.
    try await Self.waitForSilence(manager)
    // Reading the status does not start a query.
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
    let queue = DispatchQueue(label: "unused")
    let before = try Self.openSockets()
    for _ in 0..<200 {
      let manager = try await Self.manager(network)
      #expect(manager.startListening(onQueue: queue) { _ in })
      var stream = manager.statuses().makeAsyncIterator()
      _ = await stream.next()
    }
    // Other tests open a few sockets too, but a leak of two hundred would be visible.
    let end = ContinuousClock.now + .seconds(60)
    while try Self.openSockets() > before + 100, .now < end { try await Task.sleep(for: .milliseconds(50)) }
    #expect(try Self.openSockets() < before + 100)
  }

  /// The number of open netlink(7) sockets. Hardly anything but a manager opens them.
  private static func openSockets() throws -> Int {
    try FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd").count { name in
      var domain: Int32 = 0
      var size = socklen_t(MemoryLayout<Int32>.size)
      guard let descriptor = Int32(name) else { return false }
      return getsockopt(descriptor, SOL_SOCKET, SO_DOMAIN, &domain, &size) == 0 && domain == AF_NETLINK
    }
  }
}
