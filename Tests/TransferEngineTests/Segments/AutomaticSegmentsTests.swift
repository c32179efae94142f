import Foundation
import Synchronization
import TestSupport
import Testing

@testable import TransferEngine

/// Downloads that choose the number of their connections.
@Suite(.timeLimit(.minutes(5))) struct AutomaticSegmentsTests {
  @Test("automatic adds connections to a server that limits each of them, and none to a fast one")
  func automatic() async throws {
    let payload = Payload(size: 72 << 20)
    let slow = try LoopbackServer(.file(payload).dripping(bytesPerSecond: 8 << 20))
    let fast = try LoopbackServer(.file(payload))
    for (server, isSlow) in [(slow, true), (fast, false)] {
      let fixture = try DownloadFixture()
      var segmentation = Segmentation(.automatic(upTo: 4))
      segmentation.interval = isSlow ? .milliseconds(500) : .seconds(2)
      let response = await (try fixture.download(.of(server), segmentation: segmentation)).resume().response()
      #expect(response.error == nil)
      try fixture.expectOnly(payload)
      if isSlow {
        #expect(server.counters.maxOpenRequests > 1)
        #expect(server.counters.maxOpenRequests <= 4)
      } else {
        #expect(server.requests.count == 1)
      }
    }
  }

  /// Permits this many connections, and counts those that are held.
  private final class Permits: ConnectionPermits {
    let held = Mutex((now: 0, most: 0))
    let limit: Int
    init(limit: Int) { self.limit = limit }

    func acquire() async -> Bool {
      held.withLock { held in
        guard held.now < limit else { return false }
        held.now += 1
        held.most = max(held.most, held.now)
        return true
      }
    }

    func release() async { held.withLock { $0.now -= 1 } }
  }

  @Test("automatic keeps to what is permitted, and gives every permit back", arguments: [0, 1])
  func permitted(limit: Int) async throws {
    let payload = Payload(size: 66 << 20)
    let server = try LoopbackServer(.file(payload).dripping(bytesPerSecond: 16 << 20))
    let fixture = try DownloadFixture()
    let permits = Permits(limit: limit)
    var segmentation = Segmentation(.automatic(upTo: 4), permits: permits)
    segmentation.interval = .milliseconds(100)
    let response = await (try fixture.download(.of(server), segmentation: segmentation)).resume().response()
    #expect(response.error == nil)
    #expect(server.counters.maxOpenRequests <= 1 + limit)
    #expect(permits.held.withLock { $0.now } == 0)
    #expect(permits.held.withLock { $0.most } <= limit)
    if limit == 0 { #expect(server.requests.count == 1) }
  }
}
