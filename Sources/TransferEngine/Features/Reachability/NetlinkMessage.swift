/// A message of the kernel about links and routes (`linux/rtnetlink.h`, rtnetlink(7)). Parsed from bytes, without I/O.
struct NetlinkMessage: Equatable, Sendable {
  enum Content: Equatable, Sendable {
    case link(NetworkLink)
    case route(NetworkRoute)
    /// An error: an `errno`; 0 means success.
    case error(Int32)
    /// Another message: addresses, rules, the end of a list.
    case other(UInt16)
  }

  /// The number of the request that it responds to; 0 for notifications.
  var sequence: UInt32
  var content: Content

  /// All messages of a datagram. A broken message ends the list, because the next one cannot be found.
  static func all(in datagram: UnsafeRawBufferPointer) -> [NetlinkMessage] {
    var messages: [NetlinkMessage] = []
    var rest = ByteReader(datagram)
    while let message = next(&rest) { messages.append(message) }
    return messages
  }

  private static func next(_ rest: inout ByteReader) -> NetlinkMessage? {
    // struct nlmsghdr: length, type, flags, sequence, port
    guard let length = rest.number(UInt32.self, at: 0), length >= 16, let whole = rest.take(Int(length)),
      let type = whole.number(UInt16.self, at: 4), let sequence = whole.number(UInt32.self, at: 8)
    else { return nil }
    guard let content = content(type, whole.dropping(16)) else { return nil }
    return NetlinkMessage(sequence: sequence, content: content)
  }

  private static func content(_ type: UInt16, _ body: ByteReader) -> Content? {
    switch type {
    case 2:  // NLMSG_ERROR
      return body.number(Int32.self, at: 0).map { .error($0 == .min ? .max : -$0) }
    case 16, 17:  // RTM_NEWLINK, RTM_DELLINK
      return link(body).map(Content.link)
    case 24, 25:  // RTM_NEWROUTE, RTM_DELROUTE
      return route(body).map(Content.route)
    default: return .other(type)
    }
  }

  /// `struct ifinfomsg`: family, padding, type, index, flags, change.
  private static func link(_ body: ByteReader) -> NetworkLink? {
    guard let hardware = body.number(UInt16.self, at: 2), let index = body.number(Int32.self, at: 4),
      let flags = body.number(UInt32.self, at: 8), body.count >= 16
    else { return nil }
    var link = NetworkLink(
      index: index, name: "", hardwareType: hardware, isUp: flags & 0x1 != 0, isRunning: flags & 0x40 != 0)
    for (type, value) in body.dropping(16).attributes where type == 3 {  // IFLA_IFNAME
      link.name = value.text
    }
    return link
  }

  /// `struct rtmsg`: family, lengths, TOS, table, protocol, scope, type, flags.
  private static func route(_ body: ByteReader) -> NetworkRoute? {
    guard let type = body.number(UInt8.self, at: 7), body.count >= 12 else { return nil }
    var route = NetworkRoute(interface: nil, leadsSomewhere: type == 1 || type == 2)  // RTN_UNICAST, RTN_LOCAL
    for (type, value) in body.dropping(12).attributes where type == 4 {  // RTA_OIF
      route.interface = value.number(Int32.self, at: 0)
    }
    return route
  }
}

/// Reads the kernel's structures: in native byte order, aligned to 4 bytes.
private struct ByteReader {
  private var bytes: UnsafeRawBufferPointer

  init(_ bytes: UnsafeRawBufferPointer) { self.bytes = bytes }

  var count: Int { bytes.count }

  func number<Number: FixedWidthInteger>(_ type: Number.Type, at offset: Int) -> Number? {
    guard offset + MemoryLayout<Number>.size <= bytes.count else { return nil }  // checked: a constant of this program
    return bytes.loadUnaligned(fromByteOffset: offset, as: type)
  }

  /// The next `length` bytes; the reader continues at the next multiple of 4.
  mutating func take(_ length: Int) -> ByteReader? {
    guard length <= bytes.count else { return nil }
    let taken = ByteReader(.init(rebasing: bytes[..<length]))
    bytes = .init(rebasing: bytes[min(bytes.count, (length + 3) & ~3)...])  // checked: length is at most what is there
    return taken
  }

  func dropping(_ count: Int) -> ByteReader { ByteReader(.init(rebasing: bytes.dropFirst(count))) }

  /// `struct rtattr`: length, type, value.
  var attributes: [(type: UInt16, value: ByteReader)] {
    var found: [(type: UInt16, value: ByteReader)] = []
    var rest = self
    while let length = rest.number(UInt16.self, at: 0), length >= 4, let whole = rest.take(Int(length)),
      let type = whole.number(UInt16.self, at: 2)
    {
      found.append((type & 0x3FFF, whole.dropping(4)))
    }
    return found
  }

  /// Up to the first NUL.
  var text: String { String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self) }
}
