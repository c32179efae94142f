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
    return IPAddress.all(ofHost: String(host)).map(\.bytes)
  }
}
