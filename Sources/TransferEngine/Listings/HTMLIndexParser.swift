/// Finds the links of an HTML page, such as the list of a directory that nginx, Apache or Caddy makes: the `href` of each `<a>`.
///
/// It is no parser of HTML. It knows where tags, comments, scripts and styles begin and end, and keeps one tag at a time.
struct HTMLIndexParser: ListingParser {
  /// A longer tag is passed over. Browsers accept URLs of about this length.
  static let maximumTagBytes = 64 << 10

  private enum Place: Equatable {
    case text
    case tag
    /// Of `<!-- … -->`; the number of dashes that were read last, at most 2.
    case comment(dashes: Int)
    /// The text of an element in which `<` has no meaning, up to its end tag.
    case raw(element: [UInt8], matched: Int)
  }

  private var place = Place.text
  private var tag: [UInt8] = []
  private var quote: UInt8?
  private var isTooLong = false
  /// How many of `lists` are open.
  private var openLists = 0

  /// Elements in which servers list a directory, and whose end tags may not be left out.
  private static let lists = ["ol", "pre", "table", "ul"].map { Array($0.utf8) }

  var isCutOff: Bool { place != .text || openLists > 0 }

  mutating func read(_ bytes: some Collection<UInt8>, _ report: (ListedItem) -> Void) {
    for byte in bytes {
      switch place {
      case .text: if byte == UInt8(ascii: "<") { beginTag() }
      case .tag: readTag(byte, report)
      case .comment(let dashes): readComment(byte, dashes)
      case .raw(let element, let matched): readRaw(byte, element, matched)
      }
    }
  }

  mutating func finish(_ report: (ListedItem) -> Void) {}

  private mutating func beginTag() {
    place = .tag
    tag.removeAll(keepingCapacity: true)
    (quote, isTooLong) = (nil, false)
  }

  private mutating func readTag(_ byte: UInt8, _ report: (ListedItem) -> Void) {
    if tag.isEmpty, !Self.isLetter(byte), byte != UInt8(ascii: "/"), byte != UInt8(ascii: "!"),
      byte != UInt8(ascii: "?")
    {
      // No tag begins like this. `<<` may begin one at its second character.
      if byte != UInt8(ascii: "<") { place = .text }
      return
    }
    if let open = quote {
      if byte == open { quote = nil }
    } else if byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "'") {
      // A quote elsewhere is a character of a value or of a name.
      if tag.last(where: { !Self.isBlank($0) }) == UInt8(ascii: "=") { quote = byte }
    } else if byte == UInt8(ascii: ">") {
      return endTag(report)
    }
    guard tag.count < Self.maximumTagBytes else {
      isTooLong = true
      return
    }
    tag.append(byte)
    if tag.count == 3, tag.elementsEqual("!--".utf8) { place = .comment(dashes: 0) }
  }

  private mutating func readComment(_ byte: UInt8, _ dashes: Int) {
    if byte == UInt8(ascii: ">"), dashes == 2 {
      place = .text
    } else {
      place = .comment(dashes: byte == UInt8(ascii: "-") ? min(2, dashes + 1) : 0)  // checked: at most 3
    }
  }

  private mutating func readRaw(_ byte: UInt8, _ element: [UInt8], _ matched: Int) {
    // `</script` and whatever follows it.
    let end = Array("</".utf8) + element
    let isNext = Self.lowercased(byte) == end[matched]
    let count = isNext ? matched + 1 : byte == end[0] ? 1 : 0  // checked: below the length of `end`
    if count == end.count {
      beginTag()
      tag = Array(end.dropFirst())
    } else {
      place = .raw(element: element, matched: count)
    }
  }

  private mutating func endTag(_ report: (ListedItem) -> Void) {
    place = .text
    if isTooLong { return report(.unusable) }
    let isEnd = tag.first == UInt8(ascii: "/")
    let name = tag.dropFirst(isEnd ? 1 : 0).prefix { !Self.isBlank($0) && $0 != UInt8(ascii: "/") }.map(Self.lowercased)
    if Self.lists.contains(name) {
      openLists = max(0, openLists + (isEnd ? -1 : 1))  // checked: at most one for each tag that was read
    } else if isEnd {
      return
    } else if name.elementsEqual("script".utf8) || name.elementsEqual("style".utf8) {
      place = .raw(element: name, matched: 0)
    } else if name.elementsEqual("a".utf8), let text = Self.href(of: tag.dropFirst()) {
      report(.reference(text, isDirectory: nil))
    }
  }

  /// The first `href` among the attributes, its character references replaced; `nil`: there is none, or it is no text.
  private static func href(of attributes: ArraySlice<UInt8>) -> String? {
    var rest = attributes
    while !rest.isEmpty {
      rest = rest.drop { isBlank($0) || $0 == UInt8(ascii: "/") }
      let name = rest.prefix { !isBlank($0) && $0 != UInt8(ascii: "=") && $0 != UInt8(ascii: "/") }
      rest = rest[name.endIndex...].drop(while: isBlank)
      guard rest.first == UInt8(ascii: "=") else {
        // An attribute without a value; a lone character makes progress, too.
        if name.isEmpty { rest = rest.dropFirst() }
        continue
      }
      rest = rest.dropFirst().drop(while: isBlank)
      let value: ArraySlice<UInt8>
      if let quote = rest.first, quote == UInt8(ascii: "\"") || quote == UInt8(ascii: "'") {
        value = rest.dropFirst().prefix { $0 != quote }
        rest = rest[value.endIndex...].dropFirst()
      } else {
        value = rest.prefix { !isBlank($0) }
        rest = rest[value.endIndex...]
      }
      guard name.map(lowercased).elementsEqual("href".utf8) else { continue }
      guard let text = String(validating: value, as: UTF8.self) else { return nil }
      return CharacterReferences.replaced(in: text)
    }
    return nil
  }

  private static func isBlank(_ byte: UInt8) -> Bool { byte == 0x20 || (9...13).contains(byte) }
  private static func isLetter(_ byte: UInt8) -> Bool { (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte | 0x20) }
  private static func lowercased(_ byte: UInt8) -> UInt8 {
    (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(byte) ? byte | 0x20 : byte
  }
}

/// Character references of HTML: the numeric ones, and the few names that servers use in URLs. Others stay as they are.
enum CharacterReferences {
  private static let names: [Substring: Unicode.Scalar] = [
    "amp": "&", "lt": "<", "gt": ">", "quot": "\"", "apos": "'", "nbsp": "\u{A0}",
  ]

  static func replaced(in text: String) -> String {
    guard text.utf8.contains(UInt8(ascii: "&")) else { return text }
    var result = String.UnicodeScalarView()
    var rest = text.unicodeScalars[...]
    while let scalar = rest.popFirst() {
      guard scalar == "&" else {
        result.append(scalar)
        continue
      }
      let name = rest.prefix(12).prefix { $0 != ";" && $0 != "&" }
      if name.endIndex < rest.endIndex, rest[name.endIndex] == ";", let found = Self.scalar(Substring(name)) {
        result.append(found)
        rest = rest[name.endIndex...].dropFirst()
      } else {
        result.append(scalar)
      }
    }
    return String(result)
  }

  private static func scalar(_ name: Substring) -> Unicode.Scalar? {
    guard name.hasPrefix("#") else { return names[name] }
    let isHexadecimal = name.hasPrefix("#x") || name.hasPrefix("#X")
    return UInt32(name.dropFirst(isHexadecimal ? 2 : 1), radix: isHexadecimal ? 16 : 10).flatMap(Unicode.Scalar.init)
  }
}
