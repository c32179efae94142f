import Glibc

/// The sockets of the HTTP/1 connections that wait for their next request. Used on the loop's thread only.
///
/// libcurl 7.88 uses such a connection even if bytes have arrived on it since the last response. A broken server may
/// have sent a second one: it would be taken for the response to the next request, and each file would get the content
/// of the one before.
final class IdleSockets {
  /// Distinguishes connections. libcurl tells the socket of a transfer only at its end, but the ports at any time.
  struct Ports: Hashable {
    let local: Int
    let remote: Int
  }

  private var sockets: [Ports: Int32] = [:]
  /// Connections that libcurl has closed stay until there are this many.
  private static let limit = 4096

  /// Notes a connection that libcurl may keep.
  func put(_ socket: Int32, at ports: Ports) {
    if sockets.count >= Self.limit { sockets.removeAll(keepingCapacity: true) }
    sockets[ports] = socket
  }

  /// Forgets the connection, because it is used from now on.
  /// - Returns: whether bytes have arrived on it. If it was closed and its number belongs to another file now, the
  ///   answer is that for the other file, and costs a new connection at most.
  func take(at ports: Ports) -> Bool {
    guard let socket = sockets.removeValue(forKey: ports) else { return false }
    var byte: UInt8 = 0
    return recv(socket, &byte, 1, Int32(MSG_PEEK | MSG_DONTWAIT)) > 0
  }
}
