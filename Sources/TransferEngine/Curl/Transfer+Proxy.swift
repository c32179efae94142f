import CCurl
import Glibc

/// The connection through a proxy.
extension Transfer {
  func configureProxy() throws(TransferError) {
    // Both are always set: libcurl would read missing ones from the environment.
    handle.set(CURLOPT_NOPROXY, "")
    guard let proxy = request.proxy else {
      handle.set(CURLOPT_PROXY, "")
      return
    }
    handle.set(CURLOPT_PROXY, proxy.url)
    // A tunnel for everything except http: libcurl would ask an HTTP proxy to fetch `ftp:` URLs.
    if proxy.kind.isHTTP, !isForwarded {
      handle.set(CURLOPT_HTTPPROXYTUNNEL, true)
      handle.set(CURLOPT_XFERINFODATA, Unmanaged.passUnretained(self).toOpaque())
      handle.setProgress(CurlCallbacks.progress)
      handle.set(CURLOPT_NOPROGRESS, false)
    }
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

  /// Bounds the response to CONNECT. libcurl reads its body byte by byte, without end if the proxy sends one without
  /// end, calls this for each byte, and moves nothing else meanwhile.
  func mayReadFromProxy() -> Bool {
    guard let proxy = request.proxy, proxy.kind.isHTTP, !isForwarded,
      handle.offset(CURLINFO_PRETRANSFER_TIME_T) == 0
    else { return true }
    tunnelReads += 1  // checked: at most one above the limit
    guard tunnelReads > request.maximumHeadBytes else { return true }
    let reason = "its response is longer than \(request.maximumHeadBytes) bytes"
    failure = .connection(.proxy(.broken(proxy: proxy.url, reason: reason)))
    return false
  }

  /// The proxy reads the request itself instead of tunnelling bytes.
  var isForwarded: Bool {
    // A proxy that forwards a request resolves the host's name itself.
    request.proxy?.kind.isHTTP == true && request.url.hasPrefix("http://") && request.hostAddress == nil
  }

  var awaitsProxyChallenge: Bool {
    guard let proxy = request.proxy, isForwarded, proxy.credentials != nil else { return false }
    return proxy.authentication != .basic
  }

  /// A failure of the proxy that a head describes, and not of the origin.
  func proxyFailure(_ head: ResponseHead) -> TransferError? {
    guard let proxy = request.proxy, isForwarded, head.status == 407 else { return nil }
    return .connection(.proxy(.authenticationRequired(proxy: proxy.url)))
  }

  /// The meaning of libcurl's code for a connection through a proxy; `nil` if it has its usual meaning.
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
      return .connection(.proxy(.unreachable(proxy: proxy.url, reason: "no response in time")))
    case CURLE_PROXY:
      let failure = SOCKSReply.failure(UInt32(handle.long(CURLINFO_PROXY_ERROR)), proxy: proxy.url, host: request.host)
      return .connection(failure)
    case CURLE_PEER_FAILED_VERIFICATION where handle.long(CURLINFO_PROXY_SSL_VERIFYRESULT) != 0:
      return .connection(.tls(host: proxy.url, reason: text, isTransient: false))
    default: break
    }
    let status = handle.long(CURLINFO_HTTP_CONNECTCODE)
    // tinyproxy responds 401 to a wrong password.
    if !isForwarded, status == 407 || status == 401 {
      return .connection(.proxy(.authenticationRequired(proxy: proxy.url)))
    }
    if !isForwarded, status >= 300 {
      let reason = "it answered \(status)\(StatusText.phrase(status))"
      let isTransient = TransientStatus.all.contains(status)
      return .connection(.proxy(.refused(proxy: proxy.url, reason: reason, isTransient: isTransient)))
    }
    // There was no tunnel yet: the connection to the proxy broke.
    if proxy.kind.isHTTP, !isForwarded, status == 0,
      [CURLE_RECV_ERROR, CURLE_SEND_ERROR, CURLE_GOT_NOTHING].contains(code)
    {
      return .connection(.proxy(.broken(proxy: proxy.url, reason: "it closed the connection without a response")))
    }
    return nil
  }
}
