import HTTPTypes
import WireValues

/// The other places of a file that a server names: `Link` with `rel=duplicate` (RFC 6249 §2, syntax by RFC 8288 §3). Pure.
///
/// Only whole URLs count. The ones with the lowest `pri` come first. A field that cannot be read ends the list; what was read
/// before it counts.
struct DuplicateLinks: Equatable, Sendable {
  /// More links are not used.
  static let maximumCount = 16
  /// Longer fields are not read.
  static let maximumFieldBytes = 64 << 10
  /// Longer URLs are not used.
  static let maximumURLBytes = 4096

  /// The URLs as they were sent, the best one first.
  let urls: [String]

  init(_ fields: [String]) {
    var found: [(priority: Int, url: String)] = []
    for field in fields where field.utf8.count <= Self.maximumFieldBytes {
      var scanner = Scanner(bytes: Array(field.utf8))
      while found.count < Self.maximumCount, let link = scanner.next() {
        guard link.isDuplicate, !link.url.isEmpty, link.url.utf8.count <= Self.maximumURLBytes else { continue }
        found.append((link.priority, link.url))
      }
    }
    // Links with the same priority stay in the order in which they were sent.
    urls = found.enumerated().sorted { ($0.element.priority, $0.offset) < ($1.element.priority, $1.offset) }
      .map(\.element.url)
  }

  init(of head: ResponseHead) {
    self.init(HTTPField.Name("Link").map { head.headers[values: $0] } ?? [])
  }

  private struct Link {
    var url: String
    var isDuplicate = false
    /// 1 to 999999; without one the least.
    var priority = 1_000_000
  }

  /// Reads `<url>; name=value; name="value", …`.
  private struct Scanner {
    let bytes: [UInt8]
    var position = 0

    /// - Returns: `nil` at the end, and at anything that is no link.
    mutating func next() -> Link? {
      while take(UInt8(ascii: ",")) {}
      guard take(UInt8(ascii: "<")), let end = bytes[position...].firstIndex(of: UInt8(ascii: ">")) else { return nil }
      // checked: end is an index at or after position
      var link = Link(url: String(decoding: bytes[position..<end], as: UTF8.self))
      position = end + 1  // checked: an index of an array
      var hasRelation = false
      while take(UInt8(ascii: ";")) {
        let name = token().lowercased()
        guard take(UInt8(ascii: "=")) else { continue }
        guard let value = value() else { return nil }
        switch name {
        // A second one must be ignored (RFC 8288 §3.3).
        case "rel" where !hasRelation:
          hasRelation = true
          link.isDuplicate = value.lowercased().split(separator: " ").contains("duplicate")
        case "pri":
          if let number = Int(value), (1...999_999).contains(number) { link.priority = number }
        default: break
        }
      }
      skipBlanks()
      guard position == bytes.count || bytes[position] == UInt8(ascii: ",") else { return nil }
      return link
    }

    private mutating func skipBlanks() {
      while position < bytes.count, bytes[position] == UInt8(ascii: " ") || bytes[position] == UInt8(ascii: "\t") {
        position += 1  // checked: an index of an array
      }
    }

    private mutating func take(_ byte: UInt8) -> Bool {
      skipBlanks()
      guard position < bytes.count, bytes[position] == byte else { return false }
      position += 1  // checked: an index of an array
      return true
    }

    private mutating func token() -> String {
      skipBlanks()
      let start = position
      while position < bytes.count, !";,=\" \t<>".utf8.contains(bytes[position]) {
        position += 1  // checked: an index of an array
      }
      // checked: position only grows
      return String(decoding: bytes[start..<position], as: UTF8.self)
    }

    /// - Returns: `nil` for a quoted text without an end.
    private mutating func value() -> String? {
      guard take(UInt8(ascii: "\"")) else { return token() }
      var text: [UInt8] = []
      while position < bytes.count {
        var byte = bytes[position]
        position += 1  // checked: an index of an array
        if byte == UInt8(ascii: "\"") { return String(decoding: text, as: UTF8.self) }
        if byte == UInt8(ascii: "\\"), position < bytes.count {
          byte = bytes[position]
          position += 1  // checked: an index of an array
        }
        text.append(byte)
      }
      return nil
    }
  }
}
