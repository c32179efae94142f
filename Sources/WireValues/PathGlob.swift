/// A pattern for paths below a directory: `*.iso`, `docs/**`, `**/[a-c]?.txt`.
///
/// `*` stands for any characters but `/`, `?` for one, `[a-z]` and `[!a-z]` for one of a set, and `**` for any characters; as a
/// whole segment (`**/`) also for no directory at all. A pattern without `/` is compared with the last component. A backslash
/// takes the meaning from the character behind it. Matching takes time in proportion to the product of both lengths, whatever the
/// pattern.
public struct PathGlob: Equatable, Sendable, CustomStringConvertible {
  /// Why a text is no pattern. The description completes "the pattern …".
  public enum Problem: Error, Equatable, Sendable, CustomStringConvertible {
    case isEmpty
    case isTooLong
    case hasControlCharacter
    case hasOpenBracket
    case endsWithBackslash

    public var description: String {
      switch self {
      case .isEmpty: "is empty"
      case .isTooLong: "is longer than \(PathGlob.maximumBytes) bytes"
      case .hasControlCharacter: "has a control character"
      case .hasOpenBracket: "has a [ without ]; write \\[ for the character"
      case .endsWithBackslash: "ends with a backslash; write \\\\ for the character"
      }
    }
  }

  public static let maximumBytes = 1024

  private enum Token: Equatable, Sendable {
    case character(Unicode.Scalar)
    /// `?`
    case one
    case set([ClosedRange<UInt32>], isNegated: Bool)
    /// `*`
    case many
    /// `**`
    case all
    /// The beginning of `**/`: nothing, or directories. `inDirectory` follows it.
    case directories
    /// Inside one of these directories.
    case inDirectory
  }

  public let description: String
  private let tokens: [Token]
  /// Whether only the last component is compared.
  private let isName: Bool

  public init(_ text: String) throws(Problem) {
    guard !text.isEmpty else { throw .isEmpty }
    guard text.utf8.count <= Self.maximumBytes else { throw .isTooLong }
    guard text.unicodeScalars.allSatisfy({ $0.value > 0x1F && !(0x7F...0x9F).contains($0.value) }) else {
      throw .hasControlCharacter
    }
    description = text
    var rest = text.unicodeScalars[...]
    // A slash at the beginning or the end says nothing more: paths begin below the directory, and directories match, too.
    let isAnchored = rest.first == "/"
    if isAnchored { rest = rest.dropFirst() }
    if rest.last == "/" { rest = rest.dropLast() }
    isName = !isAnchored && !rest.contains("/")
    tokens = try Self.tokens(rest)
  }

  private static func tokens(_ text: Substring.UnicodeScalarView) throws(Problem) -> [Token] {
    var tokens: [Token] = []
    var rest = text
    var isAtStart = true
    while let scalar = rest.popFirst() {
      defer { isAtStart = scalar == "/" }
      switch scalar {
      case "?": tokens.append(.one)
      case "[": tokens.append(try set(&rest))
      case "\\":
        guard let next = rest.popFirst() else { throw .endsWithBackslash }
        tokens.append(.character(next))
      case "*" where rest.first == "*":
        while rest.first == "*" { rest = rest.dropFirst() }
        if isAtStart, rest.first == "/" {
          rest = rest.dropFirst()
          tokens += [.directories, .inDirectory]
          while rest.starts(with: "**/".unicodeScalars) { rest = rest.dropFirst(3) }
        } else {
          tokens.append(.all)
        }
      case "*": tokens.append(.many)
      default: tokens.append(.character(scalar))
      }
    }
    return tokens
  }

  private static func set(_ rest: inout Substring.UnicodeScalarView) throws(Problem) -> Token {
    var ranges: [ClosedRange<UInt32>] = []
    let isNegated = rest.first == "!" || rest.first == "^"
    if isNegated { rest = rest.dropFirst() }
    var isFirst = true
    while var scalar = rest.popFirst() {
      // A bracket that comes first is a character of the set.
      if scalar == "]", !isFirst { return .set(ranges, isNegated: isNegated) }
      isFirst = false
      if scalar == "\\" {
        guard let next = rest.popFirst() else { break }
        scalar = next
      }
      if rest.first == "-", let last = rest.dropFirst().first, last != "]" {
        rest = rest.dropFirst(2)
        if scalar.value <= last.value { ranges.append(scalar.value...last.value) }
      } else {
        ranges.append(scalar.value...scalar.value)
      }
    }
    throw .hasOpenBracket
  }

  /// - Parameter path: relative, without a slash at its beginning and its end.
  public func matches<Path: StringProtocol>(_ path: Path) -> Bool where Path.UTF8View: BidirectionalCollection {
    let scalars = isName ? Array(path.baseName.unicodeScalars) : Array(path.unicodeScalars)
    var current = Set<Int>()
    enter(0, &current)
    for scalar in scalars {
      var next = Set<Int>()
      for place in current where place < tokens.count { step(from: place, scalar, &next) }
      if next.isEmpty { return false }
      current = next
    }
    return current.contains(tokens.count)
  }

  /// Adds a place, and those that are reached from it without a character.
  private func enter(_ place: Int, _ places: inout Set<Int>) {
    guard places.insert(place).inserted, place < tokens.count else { return }
    switch tokens[place] {
    case .many, .all: enter(place + 1, &places)  // checked: at most the number of tokens
    // Over both tokens of the directories.
    case .directories: enter(place + 2, &places)  // checked: `inDirectory` follows
    case .character, .one, .set, .inDirectory: break
    }
  }

  private func step(from place: Int, _ scalar: Unicode.Scalar, _ places: inout Set<Int>) {
    let after = place + 1  // checked: at most the number of tokens
    switch tokens[place] {
    case .character(let expected): if scalar == expected { enter(after, &places) }
    case .one: if scalar != "/" { enter(after, &places) }
    case .set(let ranges, let isNegated):
      if scalar != "/", ranges.contains(where: { $0.contains(scalar.value) }) != isNegated { enter(after, &places) }
    case .many: if scalar != "/" { enter(place, &places) }
    case .all: enter(place, &places)
    case .directories: enter(scalar == "/" ? place : after, &places)
    case .inDirectory: enter(scalar == "/" ? place - 1 : place, &places)  // checked: `directories` is before it
    }
  }
}

/// Which paths below a directory are wanted.
public struct PathFilter: Equatable, Sendable {
  /// A file has to match one of them; empty: every file does.
  public var included: [PathGlob]
  /// What matches one of them is not wanted, nor is what is below it.
  public var excluded: [PathGlob]

  public init(included: [PathGlob] = [], excluded: [PathGlob] = []) {
    (self.included, self.excluded) = (included, excluded)
  }

  public func wantsFile(_ path: String) -> Bool {
    (included.isEmpty || included.contains { $0.matches(path) }) && entersDirectories(of: path)
      && !isExcluded(path[...])
  }

  /// Whether a directory is entered. Files below it may be wanted whatever `included` says of the directory.
  public func wantsDirectory(_ path: String) -> Bool { entersDirectories(of: path) && !isExcluded(path[...]) }

  private func isExcluded(_ path: Substring) -> Bool { excluded.contains { $0.matches(path) } }

  private func entersDirectories(of path: String) -> Bool {
    guard !excluded.isEmpty else { return true }
    return !path.utf8.indices.contains { path.utf8[$0] == UInt8(ascii: "/") && isExcluded(path[..<$0]) }
  }
}
