import Foundation
import Testing

/// The code in the documentation is tested code, and the tests that it names exist.
@Suite struct DocumentationTests {
  /// The package's directory.
  static let package = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
    .deletingLastPathComponent().deletingLastPathComponent()

  static func text(_ path: String) throws -> String {
    try String(contentsOf: package.appendingPathComponent(path), encoding: .utf8)
  }

  /// The code between the marks `// snippet: NAME` and `// end`, by name, without indentation.
  static func snippets() throws -> [String: String] {
    var snippets: [String: String] = [:]
    var (name, lines): (String?, [Substring]) = (nil, [])
    for line in try text("Tests/TransferEngineTests/Snippets/Snippets.swift").split(
      separator: "\n", omittingEmptySubsequences: false)
    {
      let words = line.drop { $0 == " " }
      if words.hasPrefix("// snippet: ") {
        (name, lines) = (String(words.dropFirst(12)), [])
      } else if words == "// end", let known = name {
        snippets[known] = outdented(lines)
        name = nil
      } else {
        lines.append(line)
      }
    }
    return snippets
  }

  private static func outdented(_ lines: [Substring]) -> String {
    let depth = lines.filter { !$0.isEmpty }.map { $0.prefix { $0 == " " }.count }.min() ?? 0
    return lines.map { String($0.dropFirst(depth)) }.joined(separator: "\n")
  }

  /// The Swift code blocks in a Markdown text.
  static func blocks(_ markdown: String) -> [String] {
    var blocks: [String] = []
    var block: [Substring]?
    for line in markdown.split(separator: "\n", omittingEmptySubsequences: false) {
      if let lines = block {
        if line == "```" {
          blocks.append(lines.joined(separator: "\n"))
          block = nil
        } else {
          block = lines + [line]
        }
      } else if line == "```swift" {
        block = []
      }
    }
    return blocks
  }

  static func articles() throws -> [String] {
    let catalog = "Sources/TransferEngine/TransferEngine.docc"
    let names = try FileManager.default.contentsOfDirectory(atPath: package.appendingPathComponent(catalog).path)
    return names.filter { $0.hasSuffix(".md") }.sorted().map { "\(catalog)/\($0)" } + ["docs/from-alamofire.md"]
  }

  @Test("each code block in the documentation equals a snippet, and each snippet is used")
  func code() throws {
    let snippets = try Self.snippets()
    var shown: Set<String> = []
    for article in try Self.articles() {
      for block in Self.blocks(try Self.text(article)) {
        // A block can contain several snippets, separated by empty lines.
        for part in block.components(separatedBy: "\n\n") {
          let name = snippets.first { $0.value == part }?.key
          #expect(name != nil, "\(article) shows what Snippets.swift does not have:\n\(part)")
          if let name { shown.insert(name) }
        }
      }
    }
    #expect(Set(snippets.keys).subtracting(shown) == [])
  }

  /// The words of a cell that are in backquotes.
  static func code(in cell: String) -> [String] {
    cell.split(separator: "`", omittingEmptySubsequences: false).enumerated().filter { $0.offset % 2 == 1 }.map {
      String($0.element)
    }
  }

  @Test("each row of the table names types and tests that exist")
  func table() throws {
    let rows = try FromAlamofireTests.rows(below: "Parts")
    #expect(rows.count >= 29)
    let declared = try Self.declaredTypes()
    for row in rows {
      #expect(row.count == 3, "\(row)")
      let types = Self.code(in: row[1]).compactMap(Self.typeName)
      #expect(!types.isEmpty, "\(row[0]) names no type")
      for type in types { #expect(declared.contains(type), "\(row[0]) names \(type), which is not there") }
      let tests = Self.code(in: row[2])
      #expect(!tests.isEmpty, "\(row[0]) names no test")
      for test in tests { #expect(Self.isTest(test), "\(row[0]) names \(test), which is not there") }
    }
  }

  /// The type name in a word: `URLEncoding` in `URLEncoding.default`. `nil` if the word contains no type name.
  private static func typeName(_ word: String) -> String? {
    let name = word.prefix { $0.isLetter || $0.isNumber }
    guard let first = name.first, first.isUppercase, ["", "."].contains(word.dropFirst(name.count).prefix(1)) else {
      return nil
    }
    return String(name)
  }

  /// The names of the types that the engine's sources declare.
  private static func declaredTypes() throws -> Set<String> {
    let root = package.appendingPathComponent("Sources/TransferEngine")
    let files = FileManager.default.enumerator(at: root, includingPropertiesForKeys: nil)?.compactMap { $0 as? URL }
    var names: Set<String> = []
    for file in files ?? [] where file.pathExtension == "swift" {
      let words = try String(contentsOf: file, encoding: .utf8).split { !$0.isLetter && !$0.isNumber && $0 != "_" }
      for (kind, name) in zip(words, words.dropFirst()) where kinds.contains(kind) { names.insert(String(name)) }
    }
    return names
  }

  private static let kinds: Set<Substring> = ["struct", "enum", "class", "actor", "protocol", "typealias"]

  /// Whether a name like `Requests/HookTests` is a file of tests.
  private static func isTest(_ name: String) -> Bool {
    let path = "Tests/TransferEngineTests/\(name).swift"
    guard let text = try? text(path) else { return false }
    return text.contains("@Suite") && text.contains("@Test")
  }
}
