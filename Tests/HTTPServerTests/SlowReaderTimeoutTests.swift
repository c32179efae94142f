import NIOCore
import NIOEmbedded
import Testing

@testable import HTTPServer

@Suite struct SlowReaderTimeoutTests {
  private func channel() throws -> EmbeddedChannel {
    let channel = EmbeddedChannel(handler: SlowReaderTimeout(timeout: .seconds(60)))
    try channel.connect(to: SocketAddress(unixDomainSocketPath: "/s")).wait()
    return channel
  }

  private func set(_ isWritable: Bool, _ channel: EmbeddedChannel) {
    channel.isWritable = isWritable
    channel.pipeline.fireChannelWritabilityChanged()
  }

  @Test("a client that reads nothing for the whole timeout is disconnected")
  func unread() throws {
    let channel = try channel()
    set(false, channel)
    channel.embeddedEventLoop.advanceTime(by: .seconds(59))
    #expect(channel.isActive)
    channel.embeddedEventLoop.advanceTime(by: .seconds(1))
    #expect(!channel.isActive)
  }

  @Test("a client that reads slowly, or has nothing to read, is not disconnected")
  func slow() throws {
    let channel = try channel()
    channel.embeddedEventLoop.advanceTime(by: .hours(1))
    for _ in 0..<5 {
      set(false, channel)
      channel.embeddedEventLoop.advanceTime(by: .seconds(50))
      set(true, channel)
      channel.embeddedEventLoop.advanceTime(by: .seconds(50))
    }
    channel.embeddedEventLoop.advanceTime(by: .hours(1))
    #expect(channel.isActive)
    _ = try channel.finish()
  }
}
