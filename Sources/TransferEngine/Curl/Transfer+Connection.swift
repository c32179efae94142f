import CCurl

/// Addresses and versions of the connection. The version of IP and the address are part of libcurl's key for reusable
/// connections.
extension Transfer {
  func configureConnection() {
    if request.isolatesConnection {
      handle.set(CURLOPT_FRESH_CONNECT, true)
      handle.set(CURLOPT_FORBID_REUSE, true)
    }
    switch request.ipVersion {
    case .v4?: handle.set(CURLOPT_IPRESOLVE, TRANSFER_IPRESOLVE_V4)
    case .v6?: handle.set(CURLOPT_IPRESOLVE, TRANSFER_IPRESOLVE_V6)
    case nil: break
    }
    if let address = request.hostAddress { handle.set(CURLOPT_CONNECT_TO, list: [address.connectTo]) }
    // libcurl below 8.2 may not continue a paused stream of HTTP/2 while others use its connection.
    if request.maximumHTTPVersion == .http1_1 || bandwidth != nil {
      handle.set(CURLOPT_HTTP_VERSION, TRANSFER_HTTP_VERSION_1_1)
    }
  }
}
