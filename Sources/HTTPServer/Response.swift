import NIOCore
import NIOHTTP1

/// A response: a status, fields and a body. Do not set `Content-Length`, `Transfer-Encoding`, `Connection` or `Date`:
/// the server adds them when the message needs them.
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
