import Foundation
import Testing

/// The suites and tests in the test columns of pages exist.
@Suite struct NamedTestsTests {
  /// A suite, or one of its tests.
  struct Reference: Hashable, CustomStringConvertible {
    var suite: String
    var test: String?

    var description: String { test.map { "\(suite).\($0)" } ?? suite }
  }

  @Test("every suite and every test in a table exists", arguments: ["docs/security.md", "docs/uploads.md"])
  func tables(_ page: String) throws {
    let text = try String(contentsOf: Self.package.appendingPathComponent(page), encoding: .utf8)
    let references = Set(text.split(separator: "\n").filter { $0.hasPrefix("| ") }.flatMap(Self.references))
    #expect(references.count > 30)
    let tests = try Self.testsBySuite()
    let missing = references.filter { reference in
      guard let known = tests[reference.suite] else { return true }
      return reference.test.map { !known.contains($0) } ?? false
    }
    #expect(missing.map(\.description).sorted() == [])
  }

  @Test("suites and their tests are found in a table cell; names of corpora and commands are ignored")
  func cells() {
    let row =
      "| x | y | PlainUploadTests `lost`, `unknown`; E2E `KillTests.tampering`, `.plain`; corpus `xml`; `make units` |"
    #expect(
      Self.references(in: row[...]) == [
        Reference(suite: "PlainUploadTests"), Reference(suite: "PlainUploadTests", test: "lost"),
        Reference(suite: "PlainUploadTests", test: "unknown"), Reference(suite: "KillTests"),
        Reference(suite: "KillTests", test: "tampering"), Reference(suite: "KillTests", test: "plain"),
      ])
  }

  /// The suites and tests in the last cell of a row.
  private static func references(in row: Substring) -> [Reference] {
    guard let cell = row.split(separator: "|").last(where: { !$0.allSatisfy(\.isWhitespace) }) else { return [] }
    var found: [Reference] = []
    var suite: String?
    for (index, piece) in cell.split(separator: "`", omittingEmptySubsequences: false).enumerated() {
      let isCode = index % 2 == 1
      if !isCode, piece.contains("corpus") || piece.contains("corpora") { suite = nil }
      // Commands contain spaces, and scripts contain hyphens.
      if isCode, !piece.allSatisfy({ $0.isLetter || $0.isNumber || $0 == "." }) { continue }
      for word in piece.split(whereSeparator: { !$0.isLetter && !$0.isNumber }) {
        if word.first?.isUppercase == true, word.hasSuffix("Tests") {
          suite = String(word)
          found.append(Reference(suite: String(word)))
        } else if isCode, let suite {
          found.append(Reference(suite: suite, test: String(word)))
        }
      }
    }
    return found
  }

  private static let package = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
    .deletingLastPathComponent().deletingLastPathComponent()

  /// The names of the functions in the files that declare or extend a type, by type. Test targets are keys without
  /// functions.
  private static func testsBySuite() throws -> [String: Set<String>] {
    let root = package.appendingPathComponent("Tests").resolvingSymlinksInPath()
    var tests: [String: Set<String>] = [:]
    for target in try FileManager.default.contentsOfDirectory(atPath: root.path) { tests[target] = [] }
    let files = FileManager.default.enumerator(at: root, includingPropertiesForKeys: nil)?.compactMap { $0 as? URL }
    for file in files ?? [] where file.pathExtension == "swift" {
      let words = try Data(contentsOf: file).split { !isPartOfName($0) }.map { String(decoding: $0, as: UTF8.self) }
      let pairs = zip(words, words.dropFirst())
      let functions = Set(pairs.filter { $0.0 == "func" }.map(\.1))
      for (kind, name) in pairs where ["struct", "enum", "extension"].contains(kind) && name.hasSuffix("Tests") {
        tests[name, default: []].formUnion(functions)
      }
    }
    return tests
  }

  private static func isPartOfName(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
      UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "_"):
      true
    default: false
    }
  }
}
