import NIOCore
import NIOHTTP1

/// A response: a status, fields and a body. `Content-Length`, `Transfer-Encoding`, `Connection` and `Date` are not for its maker: the
/// server adds what the message needs.
public struct Response: Sendable {
  public var status: HTTPResponseStatus
  public var headers: HTTPHeaders
  public var body: ResponseBody

  public init(status: HTTPResponseStatus, headers: HTTPHeaders = [:], body: ResponseBody = .none) {
    self.status = status
    self.headers = headers
    self.body = body
  }
}
