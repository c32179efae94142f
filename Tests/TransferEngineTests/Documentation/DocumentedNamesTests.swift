import Foundation
import Testing

/// The types, functions, files and routes that the documentation names exist. A rename that misses a page fails here.
@Suite struct DocumentedNamesTests {
  private static let package = DocumentationTests.package
  /// Names that belong to other projects.
  private static let foreign: Set<String> = ["TaskExecutor"]

  /// The pages, by their paths in the repository. `FromAlamofireTests` checks the names in `from-alamofire.md`.
  private static func pages() throws -> [String] {
    let folders = ["docs", "docs/decisions"].flatMap { folder in
      ((try? FileManager.default.contentsOfDirectory(atPath: package.appendingPathComponent(folder).path)) ?? [])
        .map { "\(folder)/\($0)" }
    }
    return (folders + ["README.md", "CONTRIBUTING.md", "SECURITY.md"])
      .filter { $0.hasSuffix(".md") && $0 != "docs/from-alamofire.md" }.sorted()
  }

  /// Every word of the code, the scripts and the units, and the names of their files.
  private static let words: Set<String> = {
    var words: Set<String> = []
    for root in ["Sources", "Tests", "scripts", "packaging", "bench", "Package.swift", "Makefile"] {
      let url = package.appendingPathComponent(root)
      let files = FileManager.default.enumerator(at: url, includingPropertiesForKeys: nil)?.allObjects as? [URL] ?? []
      for file in files.isEmpty ? [url] : files {
        words.insert(file.deletingPathExtension().lastPathComponent)
        let isText = !["Corpora", "Fixtures"].contains { file.path.contains("/\($0)/") }
        guard isText, let data = try? Data(contentsOf: file), data.count < 1 << 20 else { continue }
        for word in data.split(whereSeparator: { !isWord($0) }) { words.insert(String(decoding: word, as: UTF8.self)) }
      }
    }
    return words
  }()

  private static func isWord(_ byte: UInt8) -> Bool {
    (0x30...0x39).contains(byte) || (0x41...0x5A).contains(byte) || (0x61...0x7A).contains(byte) || byte == 0x5F
  }

  /// The code in a page: text between backticks, and the code blocks of the architecture page.
  private static func code(in page: String) throws -> [String] {
    var isBlock = false
    var code: [String] = []
    for line in try DocumentationTests.text(page).split(separator: "\n") {
      if line.hasPrefix("```") {
        isBlock.toggle()
      } else if isBlock {
        if page == "docs/architecture.md" { code.append(String(line)) }
      } else {
        let pieces = line.split(separator: "`", omittingEmptySubsequences: false)
        code += pieces.indices.filter { !$0.isMultiple(of: 2) }.map { String(pieces[$0]) }
      }
    }
    return code
  }

  @Test("every type and function that a page names exists", arguments: try pages())
  func names(_ page: String) throws {
    for code in try Self.code(in: page) {
      let types = code.matches(of: #/(?:^|[^\w\/.\-+])([A-Z][a-z0-9]+(?:[A-Z]+[A-Za-z0-9]*)+)/#).map { String($0.1) }
      let isAboutCode = page == "docs/architecture.md" || page == "CONTRIBUTING.md"
      let functions = code.matches(of: #/\b([a-z][A-Za-z0-9]*)\(/#).map { String($0.1) }
      for name in types + (isAboutCode ? functions : []) where !Self.foreign.contains(name) {
        let isKnown = Self.words.contains(name)
        #expect(isKnown, "\(page) names \(name), which is nowhere in the code")
      }
    }
  }

  @Test("every file and folder that a page names exists", arguments: try pages())
  func files(_ page: String) throws {
    let text = try DocumentationTests.text(page)
    let folder = Self.package.appendingPathComponent(page).deletingLastPathComponent()
    for link in text.matches(of: #/\]\(([^)#\s]+)/#).map({ String($0.1) }) where !link.hasPrefix("http") {
      let path = folder.appendingPathComponent(link).path
      #expect(FileManager.default.fileExists(atPath: path), "\(page) links to \(link), which is not there")
    }
    for code in try Self.code(in: page) {
      for match in code.matches(of: #/(?:^|[^\w\/.\-])((?:Sources|Tests|docs|scripts|packaging|bench)\/[\w.\/+\-]+)/#) {
        // `Corpora/CASE`: a word in capitals stands for any name.
        let named = match.1.split(separator: "/").prefix { $0 != $0.uppercased() }.joined(separator: "/")
        let path = Self.package.appendingPathComponent(named).path
        #expect(FileManager.default.fileExists(atPath: path), "\(page) names \(named), which is not there")
      }
    }
  }

  @Test("every route that a page names is in the OpenAPI description", arguments: try pages())
  func routes(_ page: String) throws {
    let routes = Set(
      try DocumentationTests.text("docs/openapi.yaml").split(separator: "\n")
        .filter { $0.hasPrefix("  /") && $0.hasSuffix(":") }.map { Self.template(String($0.dropFirst(2).dropLast())) })
    try #require(routes.count > 10)
    for code in try Self.code(in: page) {
      for match in code.matches(of: #/\b(?:GET|PUT|POST|PATCH|DELETE|HEAD) (\/v1\/[\w\/{}:\-]+)/#) {
        #expect(routes.contains(Self.template(String(match.1))), "\(page) names \(match.output), which is no route")
      }
    }
  }

  /// A path with every placeholder as `*`: `{id}`, `ID`, or a number.
  private static func template(_ path: String) -> String {
    path.split(separator: "/").map { part in
      let (name, verb) = (part.prefix { $0 != ":" }, part.drop { $0 != ":" })
      let isPlaceholder = name.hasPrefix("{") || name.allSatisfy { $0.isNumber } || name == name.uppercased()
      return (isPlaceholder ? "*" : name) + verb
    }.joined(separator: "/")
  }
}
