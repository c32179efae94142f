import Foundation
import HTTPTypes
import NIOConcurrencyHelpers
import NIOCore
import NIOHTTP1
import NIOHTTPTypesHTTP1
import NIOPosix
import NIOResumableUpload

/// `NIOResumableUpload` of swift-nio-extras on 127.0.0.1: an independent server of resumable uploads with the interop
/// versions 3, 5 and 6. An upload is stored in a directory under the last component of its path.
public final class ResumableServer: Sendable {
  public let port: Int
  private let channel: any Channel
  private let group: MultiThreadedEventLoopGroup
  private let counter: NIOLockedValueBox<Int64>

  /// - Parameter directory: the existing directory for the files.
  public init(keepingIn directory: String) async throws {
    let group = MultiThreadedEventLoopGroup(numberOfThreads: 1)
    // Its URLs contain the port, which is known only when it listens.
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

  /// The number of bytes from all connections, including heads of requests.
  public var bytesReceived: Int64 { counter.withLockedValue { $0 } }

  public func stop() async throws {
    try await channel.close()
    try await group.shutdownGracefully()
  }
}

/// Counts received bytes.
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
