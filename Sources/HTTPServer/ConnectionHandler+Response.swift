import NIOCore
import NIOHTTP1

extension ConnectionHandler {
  /// Writes a whole response, or the head of one whose body is a stream.
  func respond(_ response: Response) {
    guard let exchange, state.phase == .exchange else { return }
    if case .stream = response.body {
      // The stream may still read the body: the client has to send it before it gets another request's response.
      if response.status.code < 300 { sendContinue() }
    } else if !state.isBodyComplete, !mayDiscardRest(of: exchange) {
      abandonBody()
    }
    write(response, isHead: exchange.head.method == .HEAD, version: exchange.head.version)
  }

  /// A body that is a stream is complete.
  func finish() {
    guard exchange != nil, state.phase == .exchange else { return }
    end(with: .end(nil))
  }

  /// Whether the rest of the body may be read and discarded so that the connection can be used again.
  private func mayDiscardRest(of exchange: Exchange) -> Bool {
    guard !exchange.awaitsContinue, let length = RequestHead.contentLength(exchange.head.headers) else { return false }
    return length - exchange.bodyBytes <= service.limits.drainBytes  // checked: neither is negative
  }

  /// - Parameters:
  ///   - isHead: the request is HEAD: the fields are those of GET, and there is no body. RFC 9110 §9.3.2
  ///   - version: the client's.
  func write(_ response: Response, isHead: Bool, version: HTTPVersion) {
    let isOld = version.isOld
    var head = HTTPResponseHead(version: .http1_1, status: response.status, headers: response.headers)
    switch response.body {
    case .none:
      if response.status.mayHaveBody { head.headers.replaceOrAdd(name: "Content-Length", value: "0") }
    case .bytes(let bytes):
      head.headers.replaceOrAdd(name: "Content-Length", value: "\(bytes.readableBytes)")
    case .stream:
      // Without chunks only the end of the connection can tell where the body ends. RFC 9112 §6.3
      if isOld {
        head.version = .http1_0
        abandonBody()
      }
    }
    if !state.keepsAlive {
      head.headers.replaceOrAdd(name: "Connection", value: "close")
    } else if isOld {
      head.headers.replaceOrAdd(name: "Connection", value: "keep-alive")
    }
    put(.head(head))
    switch response.body {
    case .none: end(with: .end(nil))
    case .bytes(let bytes):
      if !isHead { put(.body(.byteBuffer(bytes))) }
      end(with: .end(nil))
    case .stream:
      // The encoder would write the last chunk of a body that HEAD has not.
      if isHead { end(with: nil) } else { flush() }
    }
  }
}

extension HTTPResponseStatus {
  /// RFC 9110 §6.4.1
  fileprivate var mayHaveBody: Bool { code >= 200 && code != 204 && code != 304 }
}
