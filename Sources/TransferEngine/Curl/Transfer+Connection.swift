import CCurl
import Glibc

/// Addresses and versions of the connection. The version of IP and the address are part of libcurl's key for reusable
/// connections.
extension Transfer {
  /// - Throws: `.interfaceMissing`.
  func configureConnection() throws(TransferError) {
    if request.isolatesConnection {
      handle.set(CURLOPT_FRESH_CONNECT, true)
      handle.set(CURLOPT_FORBID_REUSE, true)
    }
    switch request.ipVersion {
    case .v4?: handle.set(CURLOPT_IPRESOLVE, TRANSFER_IPRESOLVE_V4)
    case .v6?: handle.set(CURLOPT_IPRESOLVE, TRANSFER_IPRESOLVE_V6)
    case nil: break
    }
    if let interface = request.interface {
      // libcurl reports a missing interface in the same way as an address that is in use.
      guard if_nametoindex(interface) != 0 else { throw .connection(.interfaceMissing(interface)) }
      handle.set(CURLOPT_INTERFACE, "if!\(interface)")
    }
    if let address = request.hostAddress { handle.set(CURLOPT_CONNECT_TO, list: [address.connectTo]) }
    // libcurl below 8.2 may not continue a paused stream of HTTP/2 while others use its connection.
    if request.maximumHTTPVersion == .http1_1 || bandwidth != nil {
      handle.set(CURLOPT_HTTP_VERSION, TRANSFER_HTTP_VERSION_1_1)
    }
  }

  /// The error if the interface went away, or has no address yet, while libcurl connected; `nil` for all others.
  func interfaceFailure(_ code: CURLcode) -> TransferError? {
    guard let interface = request.interface, code == CURLE_INTERFACE_FAILED || if_nametoindex(interface) == 0 else {
      return nil
    }
    return .connection(.interfaceMissing(interface))
  }
}
