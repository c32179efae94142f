// checked file: positions are indices of the document in memory

import FoundationEssentials

/// The part of XML 1.0 that S3 and WebDAV respond with: elements and their text. Strict: a truncated or malformed
/// document is refused, and so are document types with their entities.
struct XMLElement: Sendable, Equatable {
  /// The name without its namespace prefix.
  var name: String
  /// The text directly inside the element.
  var text = ""
  var children: [XMLElement] = []

  subscript(name: String) -> XMLElement? { children.first { $0.name == name } }

  func all(_ name: String) -> [XMLElement] { children.filter { $0.name == name } }

  /// `nil` if the bytes are not a document.
  init?(_ data: Data) {
    var parser = XMLParser(bytes: Array(data))
    guard let root = parser.document() else { return nil }
    self = root
  }

  fileprivate init(name: String) { self.name = name }

  /// Escapes text for use between tags. Works on scalars: as a `Character`, `<` with a combining mark is not `<`. A
  /// literal carriage return would be read as a line feed (XML 1.0 §2.11).
  static func escaped(_ text: String) -> String {
    var result = String.UnicodeScalarView()
    for scalar in text.unicodeScalars {
      switch scalar {
      case "&": result.append(contentsOf: "&amp;".unicodeScalars)
      case "<": result.append(contentsOf: "&lt;".unicodeScalars)
      case ">": result.append(contentsOf: "&gt;".unicodeScalars)
      case "\"": result.append(contentsOf: "&quot;".unicodeScalars)
      case "\r": result.append(contentsOf: "&#13;".unicodeScalars)
      default: result.append(scalar)
      }
    }
    return String(result)
  }
}

private struct XMLParser {
  let bytes: [UInt8]
  private var position = 0

  private static let maximumDepth = 32
  /// A list of 1,000 parts has about 10,000 elements.
  private static let maximumElements = 65_536
  private var elements = 0

  init(bytes: [UInt8]) { self.bytes = bytes }

  mutating func document() -> XMLElement? {
    if starts(with: "\u{FEFF}") { position += 3 }
    guard skipMisc(), let root = element(depth: 0), skipMisc(), position == bytes.count else { return nil }
    return root
  }

  private func starts(with text: String) -> Bool { bytes[position...].starts(with: text.utf8) }

  private var byte: UInt8? { position < bytes.count ? bytes[position] : nil }

  private mutating func skipBlanks() {
    while let byte, byte == 0x20 || byte == 9 || byte == 10 || byte == 13 { position += 1 }
  }

  /// Skips blanks, comments and processing instructions; false if one of them has no end.
  private mutating func skipMisc() -> Bool {
    while true {
      skipBlanks()
      if starts(with: "<!--") {
        guard skip(past: "-->") else { return false }
      } else if starts(with: "<?") {
        guard skip(past: "?>") else { return false }
      } else {
        return true
      }
    }
  }

  private mutating func skip(past end: String) -> Bool {
    while position < bytes.count {
      if starts(with: end) {
        position += end.utf8.count
        return true
      }
      position += 1
    }
    return false
  }

  private mutating func element(depth: Int) -> XMLElement? {
    guard depth < Self.maximumDepth, elements < Self.maximumElements, byte == UInt8(ascii: "<") else { return nil }
    elements += 1
    position += 1
    guard let name = self.name() else { return nil }
    var element = XMLElement(name: Self.local(name))
    guard let isEmpty = attributes() else { return nil }
    if isEmpty { return element }
    while let byte {
      if byte != UInt8(ascii: "<") {
        guard let text = self.text() else { return nil }
        element.text += text
      } else if starts(with: "</") {
        position += 2
        guard self.name() == name else { return nil }
        skipBlanks()
        guard self.byte == UInt8(ascii: ">") else { return nil }
        position += 1
        return element
      } else if starts(with: "<!--") {
        guard skip(past: "-->") else { return nil }
      } else if starts(with: "<?") {
        guard skip(past: "?>") else { return nil }
      } else if starts(with: "<![CDATA[") {
        let start = position + 9
        guard skip(past: "]]>") else { return nil }
        element.text += String(decoding: bytes[start..<position - 3], as: UTF8.self)
      } else {
        guard let child = self.element(depth: depth + 1) else { return nil }
        element.children.append(child)
      }
    }
    return nil
  }

  private mutating func name() -> String? {
    let start = position
    while let byte, !" \t\r\n/>=<\"'&".utf8.contains(byte) { position += 1 }
    return position > start ? String(decoding: bytes[start..<position], as: UTF8.self) : nil
  }

  private static func local(_ name: String) -> String {
    name.firstIndex(of: ":").map { String(name[name.index(after: $0)...]) } ?? name
  }

  /// Skips attributes to the end of the tag; true if the element ends with it.
  private mutating func attributes() -> Bool? {
    while true {
      skipBlanks()
      if byte == UInt8(ascii: ">") {
        position += 1
        return false
      }
      if starts(with: "/>") {
        position += 2
        return true
      }
      guard name() != nil else { return nil }
      skipBlanks()
      guard byte == UInt8(ascii: "=") else { return nil }
      position += 1
      skipBlanks()
      guard let quote = byte, quote == UInt8(ascii: "\"") || quote == UInt8(ascii: "'") else { return nil }
      position += 1
      while let byte, byte != quote, byte != UInt8(ascii: "<") { position += 1 }
      guard byte == quote else { return nil }
      position += 1
    }
  }

  private mutating func text() -> String? {
    var text: [UInt8] = []
    while let byte, byte != UInt8(ascii: "<") {
      position += 1
      guard byte == UInt8(ascii: "&") else {
        text.append(byte)
        continue
      }
      let end = bytes[position...].prefix(12).firstIndex(of: UInt8(ascii: ";"))
      guard let end, let character = Self.entity(String(decoding: bytes[position..<end], as: UTF8.self)) else {
        return nil
      }
      text += Array(String(character).utf8)
      position = end + 1
    }
    return String(decoding: text, as: UTF8.self)
  }

  private static func entity(_ name: String) -> Unicode.Scalar? {
    switch name {
    case "lt": return "<"
    case "gt": return ">"
    case "amp": return "&"
    case "quot": return "\""
    case "apos": return "'"
    default:
      guard name.hasPrefix("#") else { return nil }
      let isHex = name.hasPrefix("#x")
      return UInt32(name.dropFirst(isHex ? 2 : 1), radix: isHex ? 16 : 10).flatMap(Unicode.Scalar.init)
    }
  }
}
