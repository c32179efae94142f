/// User names and passwords by host: `machine HOST login NAME password WORD`, and `default`. netrc(5), with quoted words as
/// curl takes them. Macros are passed over.
struct NetrcFile: Sendable {
  struct Entry: Equatable, Sendable {
    /// `nil`: the entry for every other host.
    var machine: String?
    var login = ""
    var password = ""
  }

  private(set) var entries: [Entry] = []

  init(_ text: String) {
    var isInMacro = false
    var words: [String] = []
    for line in text.split(separator: "\n", omittingEmptySubsequences: false) {
      // A macro ends with an empty line.
      if isInMacro {
        isInMacro = !line.allSatisfy(\.isWhitespace)
        continue
      }
      let found = Self.words(line)
      if let macro = found.firstIndex(of: "macdef") {
        words += found[..<macro]
        isInMacro = true
      } else {
        words += found
      }
    }
    read(words)
  }

  /// The first that names the host, else the default.
  func entry(for host: String) -> Entry? {
    entries.first { $0.machine?.lowercased() == host.lowercased() } ?? entries.first { $0.machine == nil }
  }

  private mutating func read(_ words: [String]) {
    var words = words[...]
    while let word = words.popFirst() {
      switch word {
      case "machine": if let host = words.popFirst() { entries.append(Entry(machine: host)) }
      case "default": entries.append(Entry())
      case "login": set(\.login, words.popFirst())
      case "password": set(\.password, words.popFirst())
      case "account": _ = words.popFirst()
      default: break
      }
    }
  }

  private mutating func set(_ field: WritableKeyPath<Entry, String>, _ word: String?) {
    guard let word, !entries.isEmpty else { return }
    entries[entries.count - 1][keyPath: field] = word
  }

  private static func words(_ line: Substring) -> [String] {
    var words: [String] = []
    var rest = line.drop(while: \.isWhitespace)
    while let first = rest.first {
      if first == "#" { break }
      var word = ""
      if first == "\"" {
        rest.removeFirst()
        while let character = rest.popFirst(), character != "\"" {
          word.append(character == "\\" ? rest.popFirst() ?? "\\" : character)
        }
      } else {
        while let character = rest.first, !character.isWhitespace { word.append(rest.removeFirst()) }
      }
      words.append(word)
      rest = rest.drop(while: \.isWhitespace)
    }
    return words
  }
}
