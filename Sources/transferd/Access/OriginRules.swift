import TransferAPI
import TransferEngine
import WireValues

/// What the configuration's section `origins` says about some servers.
struct OriginRule: Equatable, Sendable {
  var match: OriginPattern
  /// The most transfers at once with each origin that matches; it replaces `maxPerOrigin`.
  var maxActive: Int?
  /// The least time between the beginnings of two transfers with an origin.
  var interval: Duration?
  /// Bytes a second for each origin that matches, in each direction.
  var limitRate: Int64?
  /// The number of connections for one file, for jobs that leave it open.
  var segments: SegmentCount?
  /// For jobs that name no proxy of their own.
  var proxy: ProxyChoice?
}

/// Which origins a rule is for: `example.org`, `*.example.org` (the names below it), `*`, each with an optional scheme before it
/// (`https://`) and an optional port behind it. Names are compared as text.
struct OriginPattern: Equatable, Sendable {
  private var scheme: Substring?
  private var host: Substring
  private var port: Substring?

  /// `nil`: not a pattern.
  init?(_ text: String) {
    var rest = Substring(text.lowercased())
    if let end = rest.firstRange(of: "://") {
      scheme = rest[..<end.lowerBound]
      rest = rest[end.upperBound...]
      guard scheme?.isEmpty == false else { return nil }
    }
    if let colon = rest.lastIndex(of: ":"), !rest[colon...].contains("]") {
      let number = rest[rest.index(after: colon)...]
      guard let value = Int(number), (1...65535).contains(value) else { return nil }
      port = number
      rest = rest[..<colon]
    }
    let name = rest.hasPrefix("*.") ? rest.dropFirst(2) : rest
    guard !name.isEmpty, name == "*" && name.count == rest.count || !name.contains("*"),
      name.utf8.allSatisfy({ $0 > 0x20 && $0 != 0x7F && $0 != UInt8(ascii: "/") && $0 != UInt8(ascii: "@") }),
      !name.contains(":") || name.hasPrefix("[") && name.hasSuffix("]")
    else { return nil }
    host = rest
  }

  /// - Parameter origin: scheme, host and port, as `RequestURL.origin` writes it.
  func matches(_ origin: String) -> Bool {
    let origin = origin.lowercased()
    guard let start = origin.firstRange(of: "://") else { return false }
    var name = origin[start.upperBound...]
    if let scheme, scheme != origin[..<start.lowerBound] { return false }
    if let colon = name.lastIndex(of: ":"), !name[colon...].contains("]") {
      if let port, port != name[name.index(after: colon)...] { return false }
      name = name[..<colon]
    } else if port != nil {
      return false
    }
    if host == "*" { return true }
    if host.hasPrefix("*.") { return name.hasSuffix(host.dropFirst()) }
    return name == host
  }
}

/// The section `origins`: the first rule that matches counts.
struct OriginRules: Equatable, Sendable {
  var rules: [OriginRule] = []

  static let none = OriginRules()

  var isEmpty: Bool { rules.isEmpty }

  func rule(for origin: String) -> OriginRule? {
    rules.isEmpty ? nil : rules.first { $0.match.matches(origin) }
  }
}
