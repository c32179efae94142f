import Foundation
import TestSupport
import Testing

@testable import TransferEngine

@Suite(.timeLimit(.minutes(5))) struct ConnectionFaultTests {
  static let payload = Payload(size: 500_000)
  private static let file = FileBehaviour.file(payload)

  @Test("a silent server causes a stall error, and the received bytes are kept")
  func stall() async throws {
    let server = try LoopbackServer(Self.file.stalling(after: 100_000))
    let fixture = try DownloadFixture()
    // The timeout is longer than a busy machine needs until the first byte.
    let first = try await fixture.download(.of(server, stallTimeout: .seconds(5))).response()
    guard case .connection(.stalled)? = first.error else {
      Issue.record("\(String(describing: first.error))")
      return
    }
    #expect(first.error?.isTransient == true)
    try fixture.expectPart(first.resumeData, holds: 100_000, of: Self.payload)
    let second = try await fixture.download(server, resumingWith: first.resumeData?.encoded()).response()
    #expect(second.resumedFrom == 100_000)
    try fixture.expectOnly(Self.payload)
  }

  @Test("a missing response and one byte per second also count as stalls")
  func crumbs() async throws {
    for behaviour in [
      Self.file.stallingBeforeAnswer(), Self.file.stalling(after: 0), Self.file.dripping(bytesPerSecond: 1),
    ] {
      let server = try LoopbackServer(behaviour)
      let fixture = try DownloadFixture()
      let response = try await fixture.download(.of(server, stallTimeout: .seconds(1))).response()
      guard case .connection(.stalled)? = response.error else {
        Issue.record("\(String(describing: response.error))")
        continue
      }
    }
  }

  @Test("a slow transfer is not stalled: the total time has no limit")
  func slow() async throws {
    // The transfer takes twelve seconds.
    let payload = Payload(size: 1920)
    let server = try LoopbackServer(.file(payload).dripping(bytesPerSecond: 160))
    let fixture = try DownloadFixture()
    #expect(try await fixture.download(.of(server, stallTimeout: .seconds(5))).response().isSuccess)
    try fixture.expectOnly(payload)
  }

  @Test("a refused connection is transient")
  func refused() async throws {
    let fixture = try DownloadFixture()
    let closed = try ClosedPort()
    let url = try RequestURL("http://127.0.0.1:\(closed.number)/x")
    let response = try await fixture.download(TransferRequest(url: url)).response()
    guard case .connection(.refused(let host, _))? = response.error else {
      Issue.record("\(String(describing: response.error))")
      return
    }
    #expect(host.hasPrefix("127.0.0.1"))
    #expect(response.error?.isConnectionFailure == true)
    #expect(response.error?.isTransient == true)
    #expect(try fixture.names() == [])
  }

  @Test("the error contains the unknown host name")
  func noSuchHost() async throws {
    let fixture = try DownloadFixture()
    let url = try RequestURL("http://nowhere.invalid/x")
    let response = try await fixture.download(TransferRequest(url: url)).response()
    guard case .connection(.nameNotResolved(let host))? = response.error else {
      Issue.record("\(String(describing: response.error))")
      return
    }
    #expect(host.contains("nowhere.invalid"))
  }

  @Test("a connection that breaks before the response is transient", arguments: [true, false])
  func hangsUp(byReset: Bool) async throws {
    let server = try LoopbackServer(Self.file.hangingUp(on: .first(2), by: byReset ? .reset : .close))
    let fixture = try DownloadFixture()
    let response = try await fixture.download(server).response()
    guard case .connection(.broken)? = response.error else {
      Issue.record("\(String(describing: response.error))")
      return
    }
    #expect(response.error?.isConnectionFailure == false)
    #expect(try await fixture.download(server, interceptor: .atOnce(2)).response().isSuccess)
    try fixture.expectOnly(Self.payload)
  }

  @Test("a reset connection is resumed")
  func reset() async throws {
    let server = try LoopbackServer(Self.file.dropping(after: 200_000, by: .reset))
    let fixture = try DownloadFixture()
    let response = try await fixture.download(server, interceptor: .atOnce(2)).response()
    #expect(response.isSuccess)
    #expect(server.requests.count == 2)
    // A reset can destroy bytes that the client has not read yet.
    #expect(response.resumedFrom <= 200_000)
    #expect(response.bytesReceived == Self.payload.size)
    try fixture.expectOnly(Self.payload)
  }

  @Test("a download succeeds if the server has closed the pooled connection", arguments: [true, false])
  func reuse(byReset: Bool) async throws {
    let server = try LoopbackServer(Self.file.closingReusedConnections(by: byReset ? .reset : .close))
    let session = Session()
    for number in 1...3 {
      let fixture = try DownloadFixture(session)
      #expect(try await fixture.download(server).response().error == nil, "download \(number)")
      try fixture.expectOnly(Self.payload)
    }
  }

  @Test("pooled connections are reused unless the server closes them")
  func keepAlive() async throws {
    for (behaviour, connections) in [(Self.file, 1), (Self.file.closingConnections(), 3)] {
      let server = try LoopbackServer(behaviour)
      let session = Session()
      for _ in 0..<3 {
        let fixture = try DownloadFixture(session)
        #expect(try await fixture.download(server).response().isSuccess)
      }
      #expect(server.counters.connections == connections)
    }
  }
}
