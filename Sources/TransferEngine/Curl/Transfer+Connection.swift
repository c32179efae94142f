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

  /// The socket of a connection that libcurl keeps after a failure, although it may be dead. After a stall libcurl
  /// closes a connection of HTTP/1.1, but only the stream of HTTP/2: the next transfers would get the connection, and
  /// stall too.
  func suspectSocket(after code: CURLcode) -> Int32? {
    guard code == CURLE_OPERATION_TIMEDOUT || code == CURLE_SEND_ERROR, remote == nil,
      handle.offset(CURLINFO_PRETRANSFER_TIME_T) > 0
    else { return nil }
    return handle.socket
  }

  /// Whether this transfer has moved something within the last `time`, on the connection of the other one.
  func hasMoved(onConnectionOf other: Transfer, within time: Duration) -> Bool {
    guard let movedAt, movedAt.duration(to: .now) < time else { return false }
    // libcurl tells the socket of a transfer only when the transfer has ended, but its local port at any time.
    return handle.long(CURLINFO_LOCAL_PORT) == other.handle.long(CURLINFO_LOCAL_PORT)
      && handle.string(CURLINFO_PRIMARY_IP) == other.handle.string(CURLINFO_PRIMARY_IP)
  }

  /// The connection is used from now on.
  /// - Returns: whether bytes have arrived on it that no request asked for.
  func takeConnection() -> Bool { remote == nil && idleSockets?.take(at: ports) == true }

  /// Notes the connection that libcurl may keep. One of HTTP/2 is not noted: its frames say to which request they
  /// belong, and some come at any time.
  func leaveConnection() {
    guard remote == nil, (1...2).contains(handle.long(CURLINFO_HTTP_VERSION)) else { return }
    if let socket = handle.socket { idleSockets?.put(socket, at: ports) }
  }

  private var ports: IdleSockets.Ports {
    IdleSockets.Ports(local: handle.long(CURLINFO_LOCAL_PORT), remote: handle.long(CURLINFO_PRIMARY_PORT))
  }

  /// The error if the interface went away, or has no address yet, while libcurl connected; `nil` for all others.
  func interfaceFailure(_ code: CURLcode) -> TransferError? {
    guard let interface = request.interface, code == CURLE_INTERFACE_FAILED || if_nametoindex(interface) == 0 else {
      return nil
    }
    return .connection(.interfaceMissing(interface))
  }
}
