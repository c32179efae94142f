import Foundation
import HTTPTypes
import NIOCore
import NIOHTTPTypes

/// Writes the body of one upload, in one or more requests, to a file, and responds with `201` when it is complete.
final class FileKeeper: ChannelInboundHandler {
  typealias InboundIn = HTTPRequestPart
  typealias OutboundOut = HTTPResponsePart

  private let directory: String
  private var file: FileHandle?

  init(directory: String) { self.directory = directory }

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    switch unwrapInboundIn(data) {
    case .head(let request): begin(request, context)
    case .body(let bytes): file?.write(Data(bytes.readableBytesView))
    case .end:
      guard let file else { return }
      try? file.close()
      self.file = nil
      answer(.created, context)
    }
  }

  private func begin(_ request: HTTPRequest, _ context: ChannelHandlerContext) {
    let name =
      request.path?.split(separator: "?").first?.split(separator: "/").last.map(String.init)?
      .removingPercentEncoding ?? ""
    guard request.method == .put || request.method == .post, !name.isEmpty, name != "..", name != "." else {
      return answer(.notImplemented, context)
    }
    let path = directory + "/" + name
    _ = FileManager.default.createFile(atPath: path, contents: nil)
    file = FileHandle(forWritingAtPath: path)
    if file == nil { answer(.internalServerError, context) }
  }

  private func answer(_ status: HTTPResponse.Status, _ context: ChannelHandlerContext) {
    let head = HTTPResponse(status: status, headerFields: [.contentLength: "0"])
    context.write(wrapOutboundOut(.head(head)), promise: nil)
    context.writeAndFlush(wrapOutboundOut(.end(nil)), promise: nil)
  }
}
