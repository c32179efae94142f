import CCurl
import Glibc

/// libcurl's result codes in the engine's words; the one place that knows them (`libcurl-errors(3)`).
enum CurlError {
  /// libcurl's own limit for one line of a head (`CURL_MAX_HTTP_HEADER`).
  static let maximumLine = 100 * 1024

  /// - Parameters:
  ///   - systemError: `CURLINFO_OS_ERRNO`, the reason of a failed connect.
  ///   - received: body bytes that arrived.
  ///   - isConnected: whether the connection, TLS included, was ready to be used.
  static func translate(
    _ code: CURLcode, host: String, systemError: Int32, received: Int64, isConnected: Bool
  ) -> TransferError {
    let text = String(cString: curl_easy_strerror(code))
    switch code {
    case CURLE_UNSUPPORTED_PROTOCOL: return .response(.malformed("not an HTTP/1 or HTTP/2 answer"))
    case CURLE_URL_MALFORMAT: return .invalidURL(host, reason: text)
    case CURLE_COULDNT_RESOLVE_HOST: return .connection(.nameNotResolved(host: host))
    case CURLE_COULDNT_RESOLVE_PROXY, CURLE_PROXY: return .connection(.proxy(.broken(proxy: host, reason: text)))
    case CURLE_COULDNT_CONNECT:
      let reason = systemError == 0 ? text : String(cString: strerror(systemError))
      return .connection(.refused(host: host, reason: reason))
    case CURLE_OPERATION_TIMEDOUT:
      // The connect timeout and the low-speed limit share this code.
      return isConnected ? .connection(.stalled) : .connection(.timedOut(host: host))
    case CURLE_PARTIAL_FILE: return .response(.truncated(received: received, expected: nil))
    case CURLE_GOT_NOTHING: return .connection(.broken("the server closed it without an answer"))
    case CURLE_SEND_ERROR, CURLE_RECV_ERROR, CURLE_SEND_FAIL_REWIND, CURLE_AGAIN:
      return .connection(.broken(text))
    case CURLE_HTTP2, CURLE_HTTP2_STREAM, CURLE_HTTP3, CURLE_QUIC_CONNECT_ERROR,
      CURLE_NO_CONNECTION_AVAILABLE:
      return .connection(.broken(text))
    case CURLE_SSL_CONNECT_ERROR:
      // A handshake cut by the network looks the same as one refused by the peer.
      return .connection(.tls(host: host, reason: text, isTransient: true))
    case CURLE_PEER_FAILED_VERIFICATION, CURLE_SSL_CERTPROBLEM, CURLE_SSL_CIPHER, CURLE_SSL_CACERT_BADFILE,
      CURLE_SSL_CRL_BADFILE, CURLE_SSL_ISSUER_ERROR, CURLE_SSL_PINNEDPUBKEYNOTMATCH,
      CURLE_SSL_INVALIDCERTSTATUS, CURLE_SSL_CLIENTCERT, CURLE_SSL_ENGINE_NOTFOUND,
      CURLE_SSL_ENGINE_SETFAILED, CURLE_SSL_ENGINE_INITFAILED, CURLE_USE_SSL_FAILED:
      return .connection(.tls(host: host, reason: text, isTransient: false))
    case CURLE_SSL_SHUTDOWN_FAILED: return .connection(.broken(text))
    // Receivers report their own failures; a write error that is not theirs comes from libcurl's decoder, for bytes
    // after the end of a gzip stream.
    case CURLE_BAD_CONTENT_ENCODING, CURLE_WRITE_ERROR: return .response(.undecodable(text))
    case CURLE_WEIRD_SERVER_REPLY: return .response(.malformed(text))
    case CURLE_FILESIZE_EXCEEDED: return .response(.invalidContentLength("too large"))
    case CURLE_TOO_MANY_REDIRECTS: return .redirect(.tooMany(limit: 0))
    case CURLE_OUT_OF_MEMORY where isConnected && received == 0:
      // libcurl 7.88 has no other word for a header line above its own 100 KiB.
      return .response(.headTooLarge(limit: 100 * 1024))
    case CURLE_OUT_OF_MEMORY:
      return .transport(code: Int(code.rawValue), message: "libcurl ran out of memory", isTransient: true)
    case CURLE_ABORTED_BY_CALLBACK: return .cancelled
    case _ where code.rawValue == TRANSFER_TOO_LARGE_CODE: return .response(.headTooLarge(limit: maximumLine))
    default:
      return .transport(code: Int(code.rawValue), message: "libcurl: \(text)", isTransient: false)
    }
  }
}
