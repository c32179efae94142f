import Foundation
import TestSupport
import Testing

@testable import TransferEngine

@Suite(.timeLimit(.minutes(5))) struct ConnectionFaultTests {
  static let payload = Payload(size: 500_000)
  private static let file = FileBehaviour.file(payload)

  @Test("silence ends with the stall timeout, and what arrived is kept")
  func stall() async throws {
    let server = try LoopbackServer(Self.file.stalling(after: 100_000))
    let room = try DownloadRoom()
    // Longer than a busy machine needs until the first byte.
    let first = try await room.download(.of(server, stallTimeout: .seconds(5))).response()
    guard case .connection(.stalled)? = first.error else {
      Issue.record("\(String(describing: first.error))")
      return
    }
    #expect(first.error?.isTransient == true)
    try room.expectPart(first.resumeData, holds: 100_000, of: Self.payload)
    let second = try await room.download(server, resumingWith: first.resumeData?.encoded()).response()
    #expect(second.resumedFrom == 100_000)
    try room.expectOnly(Self.payload)
  }

  @Test("no response, and one byte a second, are stalls too")
  func crumbs() async throws {
    for behaviour in [
      Self.file.stallingBeforeAnswer(), Self.file.stalling(after: 0), Self.file.dripping(bytesPerSecond: 1),
    ] {
      let server = try LoopbackServer(behaviour)
      let room = try DownloadRoom()
      let response = try await room.download(.of(server, stallTimeout: .seconds(1))).response()
      guard case .connection(.stalled)? = response.error else {
        Issue.record("\(String(describing: response.error))")
        continue
      }
    }
  }

  @Test("a slow transfer is not stalled: the total time has no limit")
  func slow() async throws {
    // Twelve seconds.
    let payload = Payload(size: 1920)
    let server = try LoopbackServer(.file(payload).dripping(bytesPerSecond: 160))
    let room = try DownloadRoom()
    #expect(try await room.download(.of(server, stallTimeout: .seconds(5))).response().isSuccess)
    try room.expectOnly(payload)
  }

  @Test("a refused connection is transient")
  func refused() async throws {
    let room = try DownloadRoom()
    let closed = try ClosedPort()
    let url = try RequestURL("http://127.0.0.1:\(closed.number)/x")
    let response = try await room.download(TransferRequest(url: url)).response()
    guard case .connection(.refused(let host, _))? = response.error else {
      Issue.record("\(String(describing: response.error))")
      return
    }
    #expect(host.hasPrefix("127.0.0.1"))
    #expect(response.error?.isConnectionFailure == true)
    #expect(response.error?.isTransient == true)
    #expect(try room.names() == [])
  }

  @Test("the error contains the unknown host name")
  func noSuchHost() async throws {
    let room = try DownloadRoom()
    let url = try RequestURL("http://nowhere.invalid/x")
    let response = try await room.download(TransferRequest(url: url)).response()
    guard case .connection(.nameNotResolved(let host))? = response.error else {
      Issue.record("\(String(describing: response.error))")
      return
    }
    #expect(host.contains("nowhere.invalid"))
  }

  @Test("a connection that breaks before the response is transient", arguments: [true, false])
  func hangsUp(byReset: Bool) async throws {
    let server = try LoopbackServer(Self.file.hangingUp(on: .first(2), by: byReset ? .reset : .close))
    let room = try DownloadRoom()
    let response = try await room.download(server).response()
    guard case .connection(.broken)? = response.error else {
      Issue.record("\(String(describing: response.error))")
      return
    }
    #expect(response.error?.isConnectionFailure == false)
    #expect(try await room.download(server, interceptor: .atOnce(2)).response().isSuccess)
    try room.expectOnly(Self.payload)
  }

  @Test("a reset connection is resumed")
  func reset() async throws {
    let server = try LoopbackServer(Self.file.dropping(after: 200_000, by: .reset))
    let room = try DownloadRoom()
    let response = try await room.download(server, interceptor: .atOnce(2)).response()
    #expect(response.isSuccess)
    #expect(server.requests.count == 2)
    // A reset may destroy what the client had not yet read, never what it had.
    #expect(response.resumedFrom <= 200_000)
    #expect(response.bytesReceived == Self.payload.size)
    try room.expectOnly(Self.payload)
  }

  @Test("a kept connection that the server closed costs nothing", arguments: [true, false])
  func reuse(byReset: Bool) async throws {
    let server = try LoopbackServer(Self.file.closingReusedConnections(by: byReset ? .reset : .close))
    let session = Session()
    for number in 1...3 {
      let room = try DownloadRoom(session)
      #expect(try await room.download(server).response().error == nil, "download \(number)")
      try room.expectOnly(Self.payload)
    }
  }

  @Test("kept connections are used again, those the server closes are not")
  func keepAlive() async throws {
    for (behaviour, connections) in [(Self.file, 1), (Self.file.closingConnections(), 3)] {
      let server = try LoopbackServer(behaviour)
      let session = Session()
      for _ in 0..<3 {
        let room = try DownloadRoom(session)
        #expect(try await room.download(server).response().isSuccess)
      }
      #expect(server.counters.connections == connections)
    }
  }
}
