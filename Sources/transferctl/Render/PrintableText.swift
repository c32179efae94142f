extension StringProtocol {
  /// The text with control characters, and invisible ones that reverse its direction, escaped as `\n`, `\x1b`,
  /// `\u{202e}`: a name from a server must not control the terminal or break a line.
  var printable: String {
    // Most texts are ASCII without control characters.
    if utf8.allSatisfy({ $0 >= 0x20 && $0 < 0x7F }) { return String(self) }
    guard unicodeScalars.contains(where: \.isUnprintable) else { return String(self) }
    var result = ""
    for scalar in unicodeScalars {
      if scalar.isUnprintable { result += scalar.escape } else { result.unicodeScalars.append(scalar) }
    }
    return result
  }
}

extension Unicode.Scalar {
  fileprivate var isUnprintable: Bool {
    switch value {
    case 0..<0x20, 0x7f..<0xa0: true
    case 0x200e, 0x200f, 0x2028, 0x2029, 0x202a...0x202e, 0x2066...0x2069, 0xfeff: true
    default: false
    }
  }

  fileprivate var escape: String {
    switch self {
    case "\n": return "\\n"
    case "\r": return "\\r"
    case "\t": return "\\t"
    default:
      let hex = String(value, radix: 16)
      return value < 0x100 ? "\\x" + (hex.count < 2 ? "0" : "") + hex : "\\u{\(hex)}"
    }
  }
}

extension String {
  /// The width of a printable text on a terminal. wcwidth(3) depends on the locale, which cron does not set.
  var columns: Int {
    utf8.allSatisfy { $0 >= 0x20 && $0 < 0x7F } ? utf8.count : reduce(0) { $0 + $1.columns }
  }

  /// The text shortened to `width` columns by replacing its middle with `~`: the end of a file name matters as much as
  /// its beginning.
  func fitted(to width: Int) -> String {
    guard columns > width else { return self }
    guard width > 1 else { return width == 1 ? "~" : "" }
    let tailWidth = (width - 1) / 2
    var tail: [Character] = []
    var used = 0
    for character in reversed() {
      guard used + character.columns <= tailWidth else { break }
      tail.append(character)
      used += character.columns
    }
    var head = ""
    for character in self {
      guard used + character.columns <= width - 1 else { break }
      head.append(character)
      used += character.columns
    }
    return head + "~" + String(tail.reversed())
  }

  func padded(to width: Int) -> String { self + String(repeating: " ", count: Swift.max(0, width - columns)) }

  func paddedLeft(to width: Int) -> String {
    String(repeating: " ", count: Swift.max(0, width - columns)) + self
  }
}

extension Character {
  fileprivate var columns: Int {
    if isASCII { return 1 }
    return unicodeScalars.reduce(0) { Swift.max($0, $1.columns) }
  }
}

extension Unicode.Scalar {
  /// Two for the blocks of Unicode's EastAsianWidth.txt with W or F, none for combining marks.
  fileprivate var columns: Int {
    switch value {
    case 0x1100...0x115f, 0x2e80...0x303e, 0x3041...0x4dbf, 0x4e00...0xa4cf, 0xa960...0xa97f,
      0xac00...0xd7a3, 0xf900...0xfaff, 0xfe10...0xfe19, 0xfe30...0xfe6f, 0xff00...0xff60,
      0xffe0...0xffe6, 0x1f300...0x1f64f, 0x1f680...0x1f6ff, 0x1f900...0x1f9ff, 0x1fa70...0x1faff,
      0x20000...0x3fffd:
      return 2
    default:
      switch properties.generalCategory {
      case .nonspacingMark, .enclosingMark, .format: return 0
      default: return 1
      }
    }
  }
}
