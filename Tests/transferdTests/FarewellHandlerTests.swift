import NIOCore
import NIOEmbedded
import TestSupport
import Testing

@testable import transferd

@Suite struct FarewellHandlerTests {
  private func channel(_ told: Watched<Int>) throws -> EmbeddedChannel {
    let channel = EmbeddedChannel()
    try channel.connect(to: SocketAddress(unixDomainSocketPath: "/s")).wait()
    FarewellHandler.watch(channel) { told.mutate { $0 += 1 } }
    channel.embeddedEventLoop.run()
    return channel
  }

  @Test("the end of what a client sends is told, and its going after that is not told again")
  func halfClosed() throws {
    let told = Watched(0)
    let channel = try channel(told)
    #expect(told.value == 0)
    channel.pipeline.fireUserInboundEventTriggered(ChannelEvent.outputClosed)
    #expect(told.value == 0)
    channel.pipeline.fireUserInboundEventTriggered(ChannelEvent.inputClosed)
    #expect(told.value == 1 && channel.isActive)
    try channel.close().wait()
    #expect(told.value == 1)
  }

  @Test("one that goes without a word, or is gone already, is told of")
  func gone() throws {
    let told = Watched(0)
    let channel = try channel(told)
    try channel.close().wait()
    #expect(told.value == 1)
    FarewellHandler.watch(channel) { told.mutate { $0 += 1 } }
    channel.embeddedEventLoop.run()
    #expect(told.value == 2)
  }
}
