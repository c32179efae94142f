import CCurl
import Glibc

/// An IPv4 or IPv6 address, and the part of the address space to which it belongs.
public enum IPAddress: Hashable, Sendable {
  /// In host byte order.
  case v4(UInt32)
  /// The first and the last 64 bits, in host byte order.
  case v6(UInt64, UInt64)

  /// Parts of the address space that are not reachable over the public Internet.
  public enum Scope: String, Sendable, CaseIterable {
    /// This machine (127.0.0.0/8, ::1), or the unspecified address (0.0.0.0/8, ::), which Linux connects to this
    /// machine.
    case loopback
    /// One network segment (169.254.0.0/16, fe80::/10). Cloud providers serve credentials there.
    case linkLocal = "link-local"
    /// An organization's own network (RFC 1918, RFC 4193).
    case `private`
    /// Between a provider and its customers (RFC 6598).
    case shared
    /// Groups of machines (RFC 5771, RFC 4291 §2.7).
    case multicast
    /// Set aside by the IANA special-purpose address registries (RFC 6890): documentation, benchmarks, broadcast.
    case reserved
  }

  /// Reads an address from a URL: with or without the brackets of IPv6, with or without a zone.
  public init?(_ text: some StringProtocol) {
    var text = text[...]
    if text.first == "[", text.last == "]" { text = text.dropFirst().dropLast() }
    if let zone = text.firstIndex(of: "%") { text = text[..<zone] }
    let string = String(text)
    var four = in_addr()
    if inet_pton(AF_INET, string, &four) == 1 {
      self = .v4(UInt32(bigEndian: four.s_addr))
      return
    }
    var six = in6_addr()
    guard inet_pton(AF_INET6, string, &six) == 1 else { return nil }
    self.init(six)
  }

  /// - Returns: `nil` for a socket address that is not IPv4 or IPv6.
  init?(_ address: UnsafePointer<sockaddr>) {
    switch Int32(address.pointee.sa_family) {
    case AF_INET:
      self = address.withMemoryRebound(to: sockaddr_in.self, capacity: 1) {
        .v4(UInt32(bigEndian: $0.pointee.sin_addr.s_addr))
      }
    case AF_INET6:
      self = address.withMemoryRebound(to: sockaddr_in6.self, capacity: 1) { IPAddress($0.pointee.sin6_addr) }
    default: return nil
    }
  }

  private init(_ address: in6_addr) {
    self = withUnsafeBytes(of: address) { bytes in
      .v6(
        UInt64(bigEndian: bytes.loadUnaligned(fromByteOffset: 0, as: UInt64.self)),
        UInt64(bigEndian: bytes.loadUnaligned(fromByteOffset: 8, as: UInt64.self)))
    }
  }

  /// `nil` for an address on the public Internet. An IPv6 address that contains an IPv4 address has the scope of that
  /// address.
  public var scope: Scope? {
    switch self {
    case .v4(let address): Self.scope(ofV4: address)
    case .v6(let high, let low): Self.scope(ofV6: high, low)
    }
  }

  /// 4 or 16 bytes, in network byte order.
  var bytes: [UInt8] {
    switch self {
    case .v4(let address): withUnsafeBytes(of: address.bigEndian) { Array($0) }
    case .v6(let high, let low): withUnsafeBytes(of: (high.bigEndian, low.bigEndian)) { Array($0) }
    }
  }

  /// Whether the address is on the public Internet.
  public var isPublic: Bool { scope == nil }

  /// A block of IPv4 addresses: the first one, the length of the prefix, and the scope.
  private typealias Block = (first: UInt32, length: UInt32, scope: Scope)

  /// The IANA IPv4 special-purpose address registry. 192.0.0.0/24 has two public anycast addresses that no transfer
  /// needs.
  private static let blocks: [Block] = [
    (0x0000_0000, 8, .loopback), (0x0A00_0000, 8, .private), (0x6440_0000, 10, .shared), (0x7F00_0000, 8, .loopback),
    (0xA9FE_0000, 16, .linkLocal), (0xAC10_0000, 12, .private), (0xC000_0000, 24, .reserved),
    (0xC000_0200, 24, .reserved), (0xC058_6300, 24, .reserved), (0xC0A8_0000, 16, .private),
    (0xC612_0000, 15, .reserved), (0xC633_6400, 24, .reserved), (0xCB00_7100, 24, .reserved),
    (0xE000_0000, 4, .multicast), (0xF000_0000, 4, .reserved),
  ]

  private static func scope(ofV4 address: UInt32) -> Scope? {
    // checked: the lengths of the table above, 4 to 24
    blocks.first { address >> (32 - $0.length) == $0.first >> (32 - $0.length) }?.scope
  }

  private static func scope(ofV6 high: UInt64, _ low: UInt64) -> Scope? {
    let lastV4 = UInt32(truncatingIfNeeded: low)
    switch (high, low >> 32) {
    // `::` and `::1`; then the deprecated IPv4-compatible addresses (RFC 4291 §2.5.5.1).
    case (0, 0): return low <= 1 ? .loopback : scope(ofV4: lastV4) ?? .reserved
    case (0, 0xFFFF): return scope(ofV4: lastV4)  // IPv4-mapped (RFC 4291 §2.5.5.2)
    case (0x0064_FF9B_0000_0000, 0): return scope(ofV4: lastV4)  // NAT64 (RFC 6052 §2.1)
    default: break
    }
    switch high >> 48 {
    case 0xFC00...0xFDFF: return .private
    case 0xFE80...0xFEBF: return .linkLocal
    case 0xFEC0...0xFEFF: return .private  // site-local (RFC 3879)
    case 0xFF00...0xFFFF: return .multicast
    case 0x2002: return scope(ofV4: UInt32(truncatingIfNeeded: high >> 16))  // 6to4 (RFC 3056 §2)
    // 64:ff9b:1::/48 is the local-use prefix of NAT64 (RFC 8215). Where it leads depends on the network's translator.
    case 0x0064 where high >> 16 == 0x0064_FF9B_0001: return .private
    case 0x2001 where (high >> 32) & 0xFFFF < 0x0200: return .reserved  // 2001::/23 (RFC 2928): Teredo and others
    case 0x2001 where (high >> 32) & 0xFFFF == 0x0DB8: return .reserved  // documentation (RFC 3849)
    case 0x3FFF where (high >> 44) & 0xF == 0: return .reserved  // documentation (RFC 9637)
    case 0x2000...0x3FFF: return nil  // the only part in public use (RFC 4291 §2.4)
    default: return .reserved
    }
  }
}

extension IPAddress: CustomStringConvertible {
  public var description: String {
    var buffer = [CChar](repeating: 0, count: Int(INET6_ADDRSTRLEN))
    let bytes = bytes
    inet_ntop(bytes.count == 4 ? AF_INET : AF_INET6, bytes, &buffer, socklen_t(buffer.count))
    return String(decoding: buffer.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
  }
}

extension RequestURL {
  /// Why the host is not on the public Internet, as text: `127.0.0.1 is a loopback address`.
  /// - Returns: `nil` for a public address, and for a name, whose addresses are known only after it is resolved.
  public var nonPublicHost: String? {
    if let address = IPAddress(host) {
      return address.scope.map { "\(address) is a \($0.rawValue) address" }
    }
    // `localhost` and all names below it are this machine (RFC 6761 §6.3).
    let name = host.hasSuffix(".") ? host.dropLast() : host[...]
    return name == "localhost" || name.hasSuffix(".localhost") ? "\(host) is this machine" : nil
  }
}
