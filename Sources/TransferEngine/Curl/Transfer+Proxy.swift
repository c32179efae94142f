import CCurl
import Glibc

/// The way through a proxy.
extension Transfer {
  func configureProxy() throws(TransferError) {
    // Both are set in any case: libcurl would ask the environment for what is not.
    handle.set(CURLOPT_NOPROXY, "")
    guard let proxy = request.proxy else {
      handle.set(CURLOPT_PROXY, "")
      return
    }
    handle.set(CURLOPT_PROXY, proxy.url)
    // A tunnel for everything that is not HTTP itself; libcurl would ask an HTTP proxy to fetch `ftp:` URLs.
    if proxy.kind.isHTTP, !isForwarded { handle.set(CURLOPT_HTTPPROXYTUNNEL, true) }
    handle.set(CURLOPT_SOCKS5_AUTH, TRANSFER_AUTH_BASIC)  // a user name or nothing; no Kerberos
    if let credentials = proxy.credentials {
      handle.set(CURLOPT_PROXYUSERNAME, credentials.username)
      handle.set(CURLOPT_PROXYPASSWORD, credentials.password)
      switch proxy.authentication {
      case .basic: handle.set(CURLOPT_PROXYAUTH, TRANSFER_AUTH_BASIC)
      case .digest: handle.set(CURLOPT_PROXYAUTH, TRANSFER_AUTH_DIGEST)
      case .negotiateAny: handle.set(CURLOPT_PROXYAUTH, TRANSFER_AUTH_BASIC | TRANSFER_AUTH_DIGEST)
      }
    }
    if proxy.kind == .https { handle.set(try request.proxyTrust.get(), request, TLSOptions.proxy) }
  }

  /// The proxy reads the request itself, instead of passing bytes on.
  var isForwarded: Bool { request.proxy?.kind.isHTTP == true && request.url.hasPrefix("http://") }

  var awaitsProxyChallenge: Bool {
    guard let proxy = request.proxy, isForwarded, proxy.credentials != nil else { return false }
    return proxy.authentication != .basic
  }

  /// What a head says about the proxy it came through rather than about the origin.
  func proxyFailure(_ head: ResponseHead) -> TransferError? {
    guard let proxy = request.proxy, isForwarded, head.status == 407 else { return nil }
    return .connection(.proxy(.authenticationRequired(proxy: proxy.url)))
  }

  /// What libcurl's code means on the way through a proxy; `nil` where it means what it means without one.
  func proxyFailure(_ code: CURLcode) -> TransferError? {
    guard let proxy = request.proxy else { return nil }
    let text = String(cString: curl_easy_strerror(code))
    let isConnected = handle.offset(CURLINFO_CONNECT_TIME_T) > 0
    switch code {
    case CURLE_COULDNT_RESOLVE_PROXY: return .connection(.proxy(.nameNotResolved(proxy: proxy.url)))
    case CURLE_COULDNT_CONNECT where !isConnected:
      let system = Int32(handle.long(CURLINFO_OS_ERRNO))
      let reason = system == 0 ? text : String(cString: strerror(system))
      return .connection(.proxy(.unreachable(proxy: proxy.url, reason: reason)))
    case CURLE_OPERATION_TIMEDOUT where !isConnected:
      return .connection(.proxy(.unreachable(proxy: proxy.url, reason: "no answer in time")))
    case CURLE_PROXY:
      let failure = SOCKSReply.failure(UInt32(handle.long(CURLINFO_PROXY_ERROR)), proxy: proxy.url, host: request.host)
      return .connection(failure)
    case CURLE_PEER_FAILED_VERIFICATION where handle.long(CURLINFO_PROXY_SSL_VERIFYRESULT) != 0:
      return .connection(.tls(host: proxy.url, reason: text, isTransient: false))
    default: break
    }
    let status = handle.long(CURLINFO_HTTP_CONNECTCODE)
    // tinyproxy says 401 where the password is wrong.
    if !isForwarded, status == 407 || status == 401 {
      return .connection(.proxy(.authenticationRequired(proxy: proxy.url)))
    }
    if !isForwarded, status >= 300 {
      let reason = "it answered \(status)\(StatusText.phrase(status))"
      let isTransient = RetryPolicy.isTransient(status: status)
      return .connection(.proxy(.refused(proxy: proxy.url, reason: reason, isTransient: isTransient)))
    }
    // The tunnel never came to be: what broke is the proxy's connection.
    if proxy.kind.isHTTP, !isForwarded, status == 0,
      [CURLE_RECV_ERROR, CURLE_SEND_ERROR, CURLE_GOT_NOTHING].contains(code)
    {
      return .connection(.proxy(.broken(proxy: proxy.url, reason: "it closed the connection without an answer")))
    }
    return nil
  }
}

/// libcurl's reasons for `CURLE_PROXY` (`CURLINFO_PROXY_ERROR(3)`), most of them a SOCKS server's replies (RFC 1928 §6).
enum SOCKSReply {
  static func failure(_ reply: UInt32, proxy: String, host: String) -> TransferError.ConnectionFailure {
    switch CURLproxycode(reply) {
    case CURLPX_USER_REJECTED, CURLPX_NO_AUTH, CURLPX_REQUEST_FAILED, CURLPX_IDENTD, CURLPX_IDENTD_DIFFER,
      CURLPX_UNKNOWN_MODE:
      return .proxy(.authenticationRequired(proxy: proxy))
    case CURLPX_RESOLVE_HOST: return .nameNotResolved(host: host)
    case CURLPX_REPLY_NOT_ALLOWED: return refused("its rules forbid it", isTransient: false, proxy)
    case CURLPX_REPLY_COMMAND_NOT_SUPPORTED, CURLPX_REPLY_ADDRESS_TYPE_NOT_SUPPORTED, CURLPX_LONG_HOSTNAME:
      return refused("it does not know how", isTransient: false, proxy)
    case CURLPX_REPLY_CONNECTION_REFUSED: return refused("\(host) refused the connection", isTransient: true, proxy)
    case CURLPX_REPLY_HOST_UNREACHABLE, CURLPX_REPLY_NETWORK_UNREACHABLE, CURLPX_REPLY_TTL_EXPIRED:
      return refused("it cannot reach \(host)", isTransient: true, proxy)
    case CURLPX_REPLY_GENERAL_SERVER_FAILURE: return refused("it failed", isTransient: true, proxy)
    case CURLPX_BAD_VERSION, CURLPX_BAD_ADDRESS_TYPE, CURLPX_UNKNOWN_FAIL, CURLPX_REPLY_UNASSIGNED:
      return refused("it does not speak SOCKS as it should", isTransient: false, proxy)
    default: return .proxy(.broken(proxy: proxy, reason: "it closed the connection"))
    }
  }

  private static func refused(
    _ reason: String, isTransient: Bool, _ proxy: String
  ) -> TransferError.ConnectionFailure {
    .proxy(.refused(proxy: proxy, reason: reason, isTransient: isTransient))
  }
}
