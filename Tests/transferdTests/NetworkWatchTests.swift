import Testing
import TransferEngine

@testable import transferd

private typealias Status = NetworkReachabilityManager.NetworkReachabilityStatus

@Suite struct NetworkWatchTests {
  @Test(
    "the network returns when it becomes reachable or changes its kind; the first status is no return",
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
