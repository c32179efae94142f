// checked file: positions are indices of `bytes`; counts and values are at most those that `parse` has checked

import TransferAPI
import WireValues

/// A URL with ranges and lists, as curl has them: `[1-10]`, `[001-100]`, `[0-100:10]`, `[a-z]`, `{a,b}`. Pure.
///
/// The last range varies fastest. A backslash before a bracket, a brace or a comma makes it literal, and the brackets of an
/// IPv6 host are literal.
struct URLGlob: Equatable, Sendable {
  /// The most URLs that the globs of one command may name.
  static let maximumCount = 1_000_000

  enum Part: Equatable, Sendable {
    case text(String)
    case words([String])
    /// `width` digits at least.
    case numbers(first: Int, step: Int, count: Int, width: Int)
    case letters(first: UInt8, step: UInt8, count: Int)

    var count: Int {
      switch self {
      case .text: 1
      case .words(let words): words.count
      case .numbers(_, _, let count, _), .letters(_, _, let count): count
      }
    }

    fileprivate func text(at index: Int) -> String {
      switch self {
      case .text(let text): return text
      case .words(let words): return words[index]
      case .numbers(let first, let step, _, let width):
        let digits = String(first + step * index)
        return String(repeating: "0", count: max(0, width - digits.utf8.count)) + digits
      case .letters(let first, let step, _):
        return String(Unicode.Scalar(first + step * UInt8(index)))
      }
    }
  }

  let parts: [Part]
  /// The number of URLs: 1 to `maximumCount`.
  let count: Int

  /// - Throws: `WireError` for a range or list that is not complete, and for too many URLs.
  init(parsing text: String) throws(WireError) {
    var parser = GlobParser(text)
    parts = try parser.parts()
    var count = 1
    for part in parts {
      let (product, isTooLarge) = count.multipliedReportingOverflow(by: part.count)
      guard !isTooLarge, product <= Self.maximumCount else { throw Self.tooMany }
      count = product
    }
    self.count = count
  }

  static let tooMany = WireError("more than 1000000 URLs; use several calls, or a list without --glob")

  /// - Parameter index: from 0.
  func url(at index: Int) -> String {
    var rest = index
    var texts: [String] = []
    for part in parts.reversed() {
      texts.append(part.text(at: rest % part.count))
      rest /= part.count
    }
    return texts.reversed().joined()
  }
}

/// Reads the parts of a glob.
private struct GlobParser {
  private let text: String
  private let bytes: [UInt8]
  private var position = 0
  private var found: [URLGlob.Part] = []
  /// The text since the last range or list.
  private var literal: [UInt8] = []

  init(_ text: String) {
    self.text = text
    bytes = Array(text.utf8)
  }

  private static func isSpecial(_ byte: UInt8) -> Bool { "[]{},\\".utf8.contains(byte) }

  mutating func parts() throws(WireError) -> [URLGlob.Part] {
    while position < bytes.count {
      switch bytes[position] {
      case UInt8(ascii: "["):
        if let end = addressEnd {
          literal += bytes[position...end]
          position = end + 1
        } else {
          let range = try range()
          flush()
          found.append(range)
        }
      case UInt8(ascii: "{"):
        let words = try words()
        flush()
        found.append(words)
      case UInt8(ascii: "]"): throw fault("a ] has no [; write \\] for a bracket")
      case UInt8(ascii: "}"): throw fault("a } has no {; write \\} for a brace")
      default: literal.append(next())
      }
    }
    flush()
    return found
  }

  private mutating func flush() {
    if !literal.isEmpty { found.append(.text(String(decoding: literal, as: UTF8.self))) }
    literal = []
  }

  /// One byte; a backslash is left out if it makes the next byte literal.
  private mutating func next() -> UInt8 {
    if bytes[position] == UInt8(ascii: "\\"), position + 1 < bytes.count, Self.isSpecial(bytes[position + 1]) {
      position += 1
    }
    defer { position += 1 }
    return bytes[position]
  }

  /// The closing bracket of an IPv6 host that begins here: behind `//` or a user name, with two colons at least and nothing but
  /// hexadecimal digits, colons and dots before a zone.
  private var addressEnd: Int? {
    guard position >= 2,
      bytes[position - 1] == UInt8(ascii: "@") || bytes[(position - 2)..<position].elementsEqual("//".utf8),
      let end = bytes[position...].firstIndex(of: UInt8(ascii: "]"))
    else { return nil }
    let address = bytes[(position + 1)..<end].prefix { $0 != UInt8(ascii: "%") }
    let isAddress = address.allSatisfy { "0123456789abcdefABCDEF:.".utf8.contains($0) }
    return isAddress && address.count(where: { $0 == UInt8(ascii: ":") }) >= 2 ? end : nil
  }

  /// `{a,b}`; an item may be empty.
  private mutating func words() throws(WireError) -> URLGlob.Part {
    position += 1
    var words: [String] = []
    var word: [UInt8] = []
    while position < bytes.count {
      switch bytes[position] {
      case UInt8(ascii: "}"):
        guard !words.isEmpty || !word.isEmpty else { throw fault("a list {} is empty; write \\{ for a brace") }
        position += 1
        return .words(words + [String(decoding: word, as: UTF8.self)])
      case UInt8(ascii: ","):
        words.append(String(decoding: word, as: UTF8.self))
        guard words.count < URLGlob.maximumCount else { throw URLGlob.tooMany }
        word = []
        position += 1
      case UInt8(ascii: "{"), UInt8(ascii: "["), UInt8(ascii: "]"):
        throw fault("a list in braces contains another list or range; write \\ before a bracket or brace")
      default: word.append(next())
      }
    }
    throw fault("a { has no }; write \\{ for a brace")
  }

  /// `[1-10]`, `[1-10:2]`, `[a-z]`, `[a-z:2]`
  private mutating func range() throws(WireError) -> URLGlob.Part {
    guard let end = bytes[position...].firstIndex(of: UInt8(ascii: "]")) else {
      throw fault("a [ has no ]; write \\[ for a bracket")
    }
    let range = bytes[(position + 1)..<end]
    position = end + 1
    let halves = range.split(separator: UInt8(ascii: ":"), maxSplits: 1, omittingEmptySubsequences: false)
    let ends = halves.first?.split(separator: UInt8(ascii: "-"), omittingEmptySubsequences: false) ?? []
    guard ends.count == 2, let step = halves.count == 2 ? Self.number(halves[1]) : 1,
      let part = Self.numbers(ends[0], ends[1], step) ?? Self.letters(ends[0], ends[1], step)
    else {
      let shown = String(decoding: range.prefix(40), as: UTF8.self)
      throw fault("[\(shown)] is no range; write [1-10], [001-100], [0-100:10] or [a-z], and \\[ for a bracket")
    }
    return part
  }

  private static func numbers(_ from: ArraySlice<UInt8>, _ to: ArraySlice<UInt8>, _ step: Int) -> URLGlob.Part? {
    guard let first = number(from), let last = number(to), let count = count(first, last, step) else { return nil }
    return .numbers(first: first, step: step, count: count, width: from.first == UInt8(ascii: "0") ? from.count : 0)
  }

  private static func letters(_ from: ArraySlice<UInt8>, _ to: ArraySlice<UInt8>, _ step: Int) -> URLGlob.Part? {
    guard let first = from.first, let last = to.first, from.count == 1, to.count == 1,
      ["a"..."z", "A"..."Z"].contains(where: { (letters: ClosedRange<Unicode.Scalar>) in
        letters.contains(Unicode.Scalar(first)) && letters.contains(Unicode.Scalar(last))
      }), let count = count(Int(first), Int(last), step), let step = UInt8(exactly: step)
    else { return nil }
    return .letters(first: first, step: step, count: count)
  }

  /// How many values a range has. As with curl, a step must not be larger than the range.
  private static func count(_ first: Int, _ last: Int, _ step: Int) -> Int? {
    guard first <= last, step > 0, step <= max(1, last - first) else { return nil }
    // One more does not fit for 0 to Int.max.
    return ((last - first) / step).saturatingSum(1)
  }

  private static func number(_ digits: ArraySlice<UInt8>) -> Int? {
    guard !digits.isEmpty, digits.allSatisfy(\.isASCIIDigit) else { return nil }
    return Int(String(decoding: digits, as: UTF8.self))
  }

  private func fault(_ reason: String) -> WireError {
    WireError("\(reason) (--glob): \(Syntax.shown(text))")
  }
}
