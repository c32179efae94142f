import Foundation
import TestSupport
import Testing

@testable import TransferEngine

/// Slow downloads, which are woken for more than one packet.
@Suite(.timeLimit(.minutes(5))) struct TransferPacingTests {
  private final class Receiver: TransferReceiver {
    let pieces = Watched<[Int]>([])
    var bytes: Int { pieces.value.reduce(0, +) }

    func receive(_ head: ResponseHead) throws(TransferError) -> HeadVerdict { .takeBody }

    func receive(_ bytes: UnsafeRawBufferPointer) throws(TransferError) -> BodyVerdict {
      let count = bytes.count
      pieces.mutate { $0.append(count) }
      return .taken
    }
  }

  private static func request(_ url: String, stall: Duration = .seconds(100)) -> WireRequest {
    var request = WireRequest(
      url: url, host: "127.0.0.1", method: .get, headers: [:], connectTimeout: .seconds(60))
    request.stallTimeout = stall
    return request
  }

  /// 20 pieces a second.
  private static let slow = FileBehaviour.file(Payload(size: 100_000)).dripping(bytesPerSecond: 20_000)

  @Test(
    "a slow body arrives whole, in fewer pieces than it was sent in, and its connection serves the next request at once"
  )
  func pieces() async throws {
    let server = try LoopbackServer(files: ["/slow": Self.slow, "/next": .file(size: 100)])
    let loop = TransferLoop(maximumConnections: 10, BandwidthLimits())
    let receiver = Receiver()
    let outcome = await loop.perform(Self.request(server.url("/slow")), id: TransferID(), receiver: receiver)
    guard case .finished(let head, _) = outcome else {
      Issue.record("\(outcome)")
      return
    }
    #expect(head?.status == 200 && receiver.bytes == 100_000)
    #expect(receiver.pieces.value.count < 80, "of 100")
    let next = Receiver()
    _ = await loop.perform(Self.request(server.url("/next")), id: TransferID(), receiver: next)
    #expect(next.bytes == 100 && server.counters.connections == 1)
  }

  @Test("a server that becomes silent is a stall, and everything it has sent was received before")
  func silence() async throws {
    let behaviour = Self.slow.stalling(after: 65_500, on: .always)
    let server = try LoopbackServer(behaviour)
    let loop = TransferLoop(maximumConnections: 10, BandwidthLimits())
    let receiver = Receiver()
    let start = ContinuousClock.now
    let outcome = await loop.perform(
      Self.request(server.url("/a"), stall: .seconds(4)), id: TransferID(), receiver: receiver)
    guard case .failed(.connection(.stalled), let head, _) = outcome else {
      Issue.record("\(outcome)")
      return
    }
    #expect(head?.status == 200 && receiver.bytes == 65_500)
    #expect(start.duration(to: .now) > .seconds(7))
  }

  @Test("a connection that ends in the middle is noticed at once, and everything it has sent was received before")
  func broken() async throws {
    let server = try LoopbackServer(Self.slow.dropping(after: 65_500, on: .always))
    let loop = TransferLoop(maximumConnections: 10, BandwidthLimits())
    let receiver = Receiver()
    let outcome = await loop.perform(Self.request(server.url("/a")), id: TransferID(), receiver: receiver)
    guard case .failed = outcome else {
      Issue.record("\(outcome)")
      return
    }
    #expect(receiver.bytes == 65_500)
  }

  @Test("a server that becomes very slow is a stall, as without pacing")
  func crumbs() async throws {
    let behaviour = FileBehaviour.file(Payload(size: 100_000)).dripping(bytesPerSecond: 20_000)
      .dripping(bytesPerSecond: 2, after: 60_000)
    let server = try LoopbackServer(behaviour)
    let loop = TransferLoop(maximumConnections: 10, BandwidthLimits())
    let outcome = await loop.perform(
      Self.request(server.url("/a"), stall: .seconds(4)), id: TransferID(), receiver: Receiver())
    guard case .failed(.connection(.stalled), _, _) = outcome else {
      Issue.record("\(outcome)")
      return
    }
  }

  @Test("a transfer that is held longer than the stall time goes on")
  func held() async throws {
    let server = try LoopbackServer(Self.slow)
    let loop = TransferLoop(maximumConnections: 10, BandwidthLimits())
    let (receiver, isHeld) = (Receiver(), Watched(false))
    let id = TransferID { isHeld.value }
    async let ended = loop.perform(
      Self.request(server.url("/a"), stall: .seconds(2)), id: id, receiver: receiver)
    try await receiver.pieces.wait(for: "a slow rate") { $0.reduce(0, +) > 50_000 ? () : nil }
    isHeld.mutate { $0 = true }
    await loop.adjustHold(id)
    try await Task.pause(for: .seconds(3))
    isHeld.mutate { $0 = false }
    await loop.adjustHold(id)
    guard case .finished = await ended else {
      Issue.record("it did not go on")
      return
    }
    #expect(receiver.bytes == 100_000)
  }

  @Test("over TLS, where libcurl may hold a part of a record, a slow body arrives whole")
  func encrypted() async throws {
    let certificates = try await TestCertificates()
    let nginx = try await Nginx(.init(certificates: certificates, bytesPerSecond: 40_000))
    let payload = Payload(size: 240_000)
    try payload.write(to: nginx.root + "/a")
    let loop = TransferLoop(maximumConnections: 10, BandwidthLimits())
    var request = Self.request(nginx.url("/a"))
    request.trust = .success(TrustPolicy.none)
    let receiver = Receiver()
    guard case .finished = await loop.perform(request, id: TransferID(), receiver: receiver) else {
      Issue.record("not finished")
      return
    }
    #expect(receiver.bytes == 240_000)
  }
}
