import Testing
import TransferEngine

@testable import transferd

private typealias Status = NetworkReachabilityManager.NetworkReachabilityStatus

@Suite struct NetworkWatchTests {
  @Test(
    "the network is back when there is a way that was not there before; at the start nothing is known",
    arguments: [
      (nil, .reachable(.ethernetOrWiFi), false), (nil, .notReachable, false),
      (.notReachable, .reachable(.ethernetOrWiFi), true), (.unknown, .reachable(.ethernetOrWiFi), true),
      (.reachable(.cellular), .reachable(.ethernetOrWiFi), true), (.reachable(.cellular), .notReachable, false),
      (.reachable(.cellular), .unknown, false), (.notReachable, .unknown, false),
    ] as [(Status?, Status, Bool)])
  private func isReturn(_ before: Status?, _ now: Status, _ expected: Bool) {
    #expect(NetworkWatch.isReturn(from: before, to: now) == expected)
  }
}
