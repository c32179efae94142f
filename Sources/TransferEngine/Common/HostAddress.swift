/// The address that is used for a host and port of URLs, instead of those that the DNS has.
public struct HostAddress: Hashable, Sendable, CustomStringConvertible {
  /// As in a URL: in lower case, IPv6 in brackets.
  public let host: String
  /// The port in URLs, 1 to 65535.
  public let port: Int
  /// As in a URL: IPv6 in brackets.
  public let address: String

  /// Reads `HOST:PORT:ADDRESS`, the format of `curl --resolve`. The address may be IPv4 or IPv6, with or without brackets; a
  /// host that is an IPv6 address needs them.
  /// - Throws: `.invalidURL` for anything else.
  public init(_ text: String) throws(TransferError) {
    func invalid(_ reason: String) -> TransferError { .invalidURL(String(text.prefix(200)), reason: reason) }
    guard let hostEnd = Self.endOfHost(text), let portEnd = text[text.index(after: hostEnd)...].firstIndex(of: ":")
    else {
      throw invalid("it must be HOST:PORT:ADDRESS")
    }
    let digits = text[text.index(after: hostEnd)..<portEnd]
    guard digits.utf8.allSatisfy({ UInt8(ascii: "0")...UInt8(ascii: "9") ~= $0 }), let port = Int(digits),
      (1...65_535).contains(port)
    else { throw invalid("the port must be from 1 to 65535") }
    let address = text[text.index(after: portEnd)...]
    guard !address.contains("%"), let parsed = IPAddress(address) else {
      throw invalid("the last part must be an IPv4 or IPv6 address")
    }
    // Parsed as a URL: the same rules for names.
    let url = try RequestURL("http://\(text[..<hostEnd])/")
    guard url.path == "/", url.credentials == nil, !url.string.contains("?") else {
      throw invalid("the first part must be a host's name")
    }
    host = url.host
    self.port = port
    self.address = if case .v6 = parsed, !address.hasPrefix("[") { "[\(address)]" } else { String(address) }
  }

  /// The colon behind the host.
  private static func endOfHost(_ text: String) -> String.Index? {
    guard text.hasPrefix("[") else { return text.firstIndex(of: ":") }
    guard let bracket = text.firstIndex(of: "]"), case let end = text.index(after: bracket), end < text.endIndex,
      text[end] == ":"
    else { return nil }
    return end
  }

  public var description: String { "\(host):\(port):\(address)" }

  /// The entry for `CURLOPT_CONNECT_TO(3)`. `CURLOPT_RESOLVE` would change the DNS cache, which other requests share.
  var connectTo: String { "\(description):\(port)" }

  /// Whether a URL has this host and port.
  func applies(to url: RequestURL) -> Bool { url.port == port && url.host == host }
}
