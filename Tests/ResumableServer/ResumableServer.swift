import Foundation
import HTTPTypes
import NIOConcurrencyHelpers
import NIOCore
import NIOHTTP1
import NIOHTTPTypesHTTP1
import NIOPosix
import NIOResumableUpload

/// `NIOResumableUpload` of swift-nio-extras on 127.0.0.1: a server of resumable uploads that somebody else wrote, of the
/// interop versions 3, 5 and 6. What is put under a path is kept in a directory under the path's last component.
public final class ResumableServer: Sendable {
  public let port: Int
  private let channel: any Channel
  private let group: MultiThreadedEventLoopGroup
  private let counter: NIOLockedValueBox<Int64>

  /// - Parameter directory: where files are kept; must be there.
  public init(keepingIn directory: String) async throws {
    let group = MultiThreadedEventLoopGroup(numberOfThreads: 1)
    // Its URLs hold the port, which is known only when it listens.
    let context = NIOLockedValueBox<HTTPResumableUploadContext?>(nil)
    let counter = NIOLockedValueBox<Int64>(0)
    let channel = try await ServerBootstrap(group: group)
      .serverChannelOption(ChannelOptions.socketOption(.so_reuseaddr), value: 1)
      .childChannelInitializer { channel in
        channel.eventLoop.makeCompletedFuture {
          guard let context = context.withLockedValue({ $0 }) else { throw ChannelError.ioOnClosedChannel }
          let pipeline = channel.pipeline.syncOperations
          try pipeline.addHandler(ByteCounter(counter))
          try pipeline.configureHTTPServerPipeline()
          try pipeline.addHandler(HTTP1ToHTTPServerCodec(secure: false))
          try pipeline.addHandler(
            HTTPResumableUploadHandler(context: context) { upload in
              try? upload.pipeline.syncOperations.addHandler(FileKeeper(directory: directory))
            })
        }
      }
      .bind(host: "127.0.0.1", port: 0).get()
    let port = channel.localAddress?.port ?? 0
    context.withLockedValue { $0 = HTTPResumableUploadContext(origin: "http://127.0.0.1:\(port)") }
    self.port = port
    self.channel = channel
    self.group = group
    self.counter = counter
  }

  /// The URL of a path, which begins with `/`.
  public func url(_ path: String) -> String { "http://127.0.0.1:\(port)\(path)" }

  /// Bytes that came over all connections, heads of requests included.
  public var bytesReceived: Int64 { counter.withLockedValue { $0 } }

  public func stop() async throws {
    try await channel.close()
    try await group.shutdownGracefully()
  }
}

/// Counts what comes from the network.
private final class ByteCounter: ChannelInboundHandler {
  typealias InboundIn = ByteBuffer
  typealias InboundOut = ByteBuffer

  private let counter: NIOLockedValueBox<Int64>

  init(_ counter: NIOLockedValueBox<Int64>) { self.counter = counter }

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    let count = unwrapInboundIn(data).readableBytes
    counter.withLockedValue { $0 += Int64(count) }
    context.fireChannelRead(data)
  }
}
