import NIOCore
import NIOEmbedded
import TestSupport
import Testing

@testable import HTTPServer

@Suite struct DisconnectHandlerTests {
  private func channel(_ reports: Watched<Int>) throws -> EmbeddedChannel {
    let channel = EmbeddedChannel()
    try channel.connect(to: SocketAddress(unixDomainSocketPath: "/s")).wait()
    DisconnectHandler.watch(channel) { reports.mutate { $0 += 1 } }
    channel.embeddedEventLoop.run()
    return channel
  }

  @Test("the end of the input is reported once, and the end of the connection after it is not")
  func halfClosed() throws {
    let reports = Watched(0)
    let channel = try channel(reports)
    #expect(reports.value == 0)
    channel.pipeline.fireUserInboundEventTriggered(ChannelEvent.outputClosed)
    #expect(reports.value == 0)
    channel.pipeline.fireUserInboundEventTriggered(ChannelEvent.inputClosed)
    #expect(reports.value == 1 && channel.isActive)
    try channel.close().wait()
    #expect(reports.value == 1)
  }

  @Test("the end of the connection is reported, also if it was before the watch began")
  func gone() throws {
    let reports = Watched(0)
    let channel = try channel(reports)
    try channel.close().wait()
    #expect(reports.value == 1)
    DisconnectHandler.watch(channel) { reports.mutate { $0 += 1 } }
    channel.embeddedEventLoop.run()
    #expect(reports.value == 2)
  }
}
