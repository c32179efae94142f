import CCurl
import Testing

@testable import TransferEngine

@Suite struct CurlErrorTests {
  @Test("every code libcurl can return has a meaning and a text", arguments: 1...99)
  func everyCode(_ code: Int) {
    let error = CurlError.translate(
      CURLcode(UInt32(code)), host: "h:80", systemError: 0, received: 0, isConnected: false)
    #expect(!"\(error)".isEmpty)
  }

  @Test(
    "what may pass is told from what will not",
    arguments: [
      (CURLE_COULDNT_RESOLVE_HOST, true), (CURLE_COULDNT_CONNECT, true), (CURLE_OPERATION_TIMEDOUT, true),
      (CURLE_PARTIAL_FILE, true), (CURLE_GOT_NOTHING, true), (CURLE_RECV_ERROR, true), (CURLE_SEND_ERROR, true),
      (CURLE_HTTP2, true), (CURLE_HTTP2_STREAM, true), (CURLE_SSL_CONNECT_ERROR, true),
      (CURLE_PEER_FAILED_VERIFICATION, false), (CURLE_SSL_CERTPROBLEM, false), (CURLE_URL_MALFORMAT, false),
      (CURLE_UNSUPPORTED_PROTOCOL, false), (CURLE_WEIRD_SERVER_REPLY, false), (CURLE_FILESIZE_EXCEEDED, false),
      (CURLE_BAD_CONTENT_ENCODING, true), (CURLE_BAD_FUNCTION_ARGUMENT, false),
    ])
  func transience(_ code: CURLcode, _ isTransient: Bool) {
    let error = CurlError.translate(code, host: "h:80", systemError: 0, received: 0, isConnected: false)
    #expect(error.isTransient == isTransient)
  }

  @Test("the two timeouts are told apart")
  func timeouts() {
    func error(_ isConnected: Bool) -> String {
      "\(CurlError.translate(CURLE_OPERATION_TIMEDOUT, host: "h:80", systemError: 0, received: 0, isConnected: isConnected))"
    }
    #expect(error(false).contains("cannot connect to h:80"))
    #expect(error(true).contains("stalled"))
  }
}
