import CLinux
import Glibc

/// What has to be reachable.
enum ReachabilityTarget: Sendable {
  case anywhere
  case host(String)

  /// Addresses of 4 or 16 bytes; empty if a name cannot be resolved.
  func addresses() -> [[UInt8]] {
    switch self {
    // Addresses of the documentation networks (RFC 5737, RFC 9637), which no local network uses: their route is the
    // default route, or that of a tunnel that replaces it.
    case .anywhere: [[198, 51, 100, 1], [0x3F, 0xFF, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1]]
    case .host(let host): Self.lookUp(host)
    }
  }

  private static func lookUp(_ host: String) -> [[UInt8]] {
    var host = host[...]
    if host.first == "[", host.last == "]" { host = host.dropFirst().dropLast() }
    var hints = addrinfo()
    hints.ai_socktype = linux_stream_socket
    var list: UnsafeMutablePointer<addrinfo>?
    guard getaddrinfo(String(host), nil, &hints, &list) == 0 else { return [] }
    defer { freeaddrinfo(list) }
    var addresses: [[UInt8]] = []
    var entry = list
    while let current = entry?.pointee {
      switch current.ai_family {
      case AF_INET:
        current.ai_addr.withMemoryRebound(to: sockaddr_in.self, capacity: 1) { address in
          addresses.append(withUnsafeBytes(of: address.pointee.sin_addr, Array.init))
        }
      case AF_INET6:
        current.ai_addr.withMemoryRebound(to: sockaddr_in6.self, capacity: 1) { address in
          addresses.append(withUnsafeBytes(of: address.pointee.sin6_addr, Array.init))
        }
      default: break
      }
      entry = current.ai_next
    }
    return addresses
  }
}
