import NIOCore
import NIOEmbedded
import Testing

@testable import HTTPServer

/// The times of a connection, on a clock that the tests move.
@Suite struct ConnectionHandlerTests {
  private func channel() throws -> EmbeddedChannel {
    let limits = ServerLimits(connections: 10)
    let service = ConnectionHandler.Service(
      limits: limits, budget: MemoryBudget(limits), respond: { _ in Response(status: .ok) }, refuse: Server.refusal)
    let channel = EmbeddedChannel()
    try ConnectionHandler.install(service, peer: Peer(uid: 0), admission: .admitted, on: channel)
    try channel.connect(to: SocketAddress(unixDomainSocketPath: "/s")).wait()
    return channel
  }

  private func send(_ text: String, _ channel: EmbeddedChannel) throws {
    try channel.writeInbound(ByteBuffer(string: text))
  }

  private func sent(_ channel: EmbeddedChannel) throws -> String {
    var text = ""
    while let piece = try channel.readOutbound(as: ByteBuffer.self) { text += String(buffer: piece) }
    return text
  }

  @Test("a connection that asks nothing is closed after 60 s")
  func idle() throws {
    let channel = try channel()
    channel.embeddedEventLoop.advanceTime(by: .seconds(59))
    #expect(channel.isActive)
    channel.embeddedEventLoop.advanceTime(by: .seconds(1))
    let answer = try sent(channel)
    #expect(!channel.isActive && answer.isEmpty)
  }

  @Test("a head has 10 s from its first byte, however many bytes follow")
  func trickle() throws {
    let channel = try channel()
    channel.embeddedEventLoop.advanceTime(by: .seconds(50))
    try send("GET / HTTP/1.1\r\n", channel)
    for _ in 0..<9 {
      channel.embeddedEventLoop.advanceTime(by: .seconds(1))
      try send("X: y\r\n", channel)
    }
    let early = try sent(channel)
    #expect(early.isEmpty)
    channel.embeddedEventLoop.advanceTime(by: .seconds(1))
    let answer = try sent(channel)
    #expect(answer.statuses == [408])
    // The client may read the response before the connection is closed.
    channel.embeddedEventLoop.advanceTime(by: .seconds(5))
    #expect(!channel.isActive)
  }
}
