import Glibc
import WireValues

/// Hosts that need no proxy. Names are compared as text; they are not resolved.
///
/// | entry | matches |
/// |---|---|
/// | `*` | all hosts |
/// | `example.com`, `.example.com`, `*.example.com` | that name and all names below it |
/// | `192.0.2.7`, `2001:db8::7`, `[2001:db8::7]` | that address |
/// | `192.0.2.0/24`, `2001:db8::/32` | the addresses of that network |
/// | any of them with `:port` (then IPv6 in brackets) | the same, on that port only |
public struct NoProxyList: Hashable, Sendable, ExpressibleByArrayLiteral {
  private var rules: [Rule]

  private struct Rule: Hashable, Sendable {
    enum Pattern: Hashable, Sendable {
      case all
      case name(String)
      case network([UInt8], bits: Int)
    }
    var pattern: Pattern
    var port: Int?
  }

  /// Whether an entry can be read.
  public static func isValid(entry: String) -> Bool { rule(entry) != nil }

  /// Unreadable entries match nothing.
  public init(_ entries: [String]) { rules = entries.compactMap(Self.rule) }

  public init(arrayLiteral elements: String...) { self.init(elements) }

  /// - Parameter text: entries separated by commas or blanks, as in `no_proxy`.
  public init(parsing text: String) {
    self.init(text.split { $0 == "," || $0.isWhitespace }.map(String.init))
  }

  /// - Parameters:
  ///   - host: as in a URL; IPv6 with or without brackets.
  ///   - port: the URL's port, or the scheme's default.
  public func contains(host: String, port: Int) -> Bool {
    let name = Self.normalized(host)
    let address = Self.address(name)
    return rules.contains { rule in
      if let wanted = rule.port, wanted != port { return false }
      switch rule.pattern {
      case .all: return true
      case .name(let suffix): return address == nil && (name == suffix || name.hasSuffix("." + suffix))
      case .network(let network, let bits): return address.map { Self.share($0, network, bits) } ?? false
      }
    }
  }

  private static func rule(_ entry: String) -> Rule? {
    var text = entry.lowercased().trimmingBlanks()
    if text == "*" { return Rule(pattern: .all) }
    var port: Int?
    if let colon = text.lastIndex(of: ":"), text.filter({ $0 == ":" }).count == 1 || text[..<colon].last == "]" {
      guard let number = Int(text[text.index(after: colon)...]), (1...65535).contains(number) else { return nil }
      port = number
      text = text[..<colon]
    }
    if text == "*" { return Rule(pattern: .all, port: port) }
    if let slash = text.firstIndex(of: "/") {
      guard let network = address(normalized(String(text[..<slash]))),
        let bits = Int(text[text.index(after: slash)...]),
        (0...network.count * 8).contains(bits)
      else { return nil }
      return Rule(pattern: .network(network, bits: bits), port: port)
    }
    let name = normalized(String(text))
    if let exact = address(name) { return Rule(pattern: .network(exact, bits: exact.count * 8), port: port) }
    let suffix = name.hasPrefix("*.") ? name.dropFirst(2) : name.hasPrefix(".") ? name.dropFirst() : name[...]
    return isName(suffix) ? Rule(pattern: .name(String(suffix)), port: port) : nil
  }

  /// Letters, digits, `-`, `_` and dots; and whatever is not ASCII.
  private static func isName(_ text: Substring) -> Bool {
    !text.isEmpty
      && text.utf8.allSatisfy { byte in
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "0")...UInt8(ascii: "9"), 0x80...: true
        default: "-_.".utf8.contains(byte)
        }
      }
  }

  /// In lower case, without brackets, zone and trailing dot.
  private static func normalized(_ host: String) -> String {
    var host = host.lowercased()[...]
    if host.first == "[", host.last == "]" { host = host.dropFirst().dropLast() }
    if host.contains(":"), let zone = host.firstIndex(of: "%") { host = host[..<zone] }
    if host.last == "." { host = host.dropLast() }
    return String(host)
  }

  /// 4 or 16 bytes; `nil` for text that is not an address.
  private static func address(_ text: String) -> [UInt8]? {
    var bytes = [UInt8](repeating: 0, count: 16)
    if inet_pton(AF_INET, text, &bytes) == 1 { return Array(bytes[..<4]) }
    return inet_pton(AF_INET6, text, &bytes) == 1 ? bytes : nil
  }

  private static func share(_ first: [UInt8], _ second: [UInt8], _ bits: Int) -> Bool {
    guard first.count == second.count else { return false }
    let whole = bits / 8
    guard first[..<whole] == second[..<whole] else { return false }
    guard bits % 8 > 0 else { return true }
    return (first[whole] ^ second[whole]) >> (8 - bits % 8) == 0
  }
}
