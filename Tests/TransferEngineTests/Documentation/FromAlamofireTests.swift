import Dispatch
import Foundation
import Glibc
import HTTPTypes
import TestSupport
import Testing

@testable import TransferEngine

/// The symbols and tests that `docs/from-alamofire.md` names exist. The suite also tests the differences that no other
/// suite tests.
@Suite(.timeLimit(.minutes(5))) struct FromAlamofireTests {
  private static let page = "docs/from-alamofire.md"

  // MARK: The page

  /// The rows of the tables below a heading, as cells, without the tables' header rows.
  static func rows(below heading: String) throws -> [[String]] {
    let sections = try DocumentationTests.text(page).components(separatedBy: "\n## ")
    let section = try #require(sections.first { $0.hasPrefix(heading + "\n") }, "no section \(heading)")
    return section.split(separator: "\n").filter { $0.hasPrefix("| ") }.dropFirst().map { line in
      line.split(separator: "|").map { $0.trimmingCharacters(in: .whitespaces) }
    }
  }

  /// The declared names and all words in the engine's sources.
  private static func symbols() throws -> (declared: Set<String>, words: Set<String>) {
    let keywords: Set<Substring> = [
      "struct", "enum", "class", "actor", "protocol", "typealias", "func", "var", "let", "case", "associatedtype",
    ]
    let root = DocumentationTests.package.appendingPathComponent("Sources/TransferEngine")
    let files = FileManager.default.enumerator(at: root, includingPropertiesForKeys: nil)?.compactMap { $0 as? URL }
    var (declared, all): (Set<String>, Set<String>) = ([], [])
    for file in files ?? [] where file.pathExtension == "swift" {
      let code = try String(contentsOf: file, encoding: .utf8).split(separator: "\n").filter { line in
        !line.drop { $0 == " " }.hasPrefix("//")
      }
      let words = code.joined(separator: "\n").split { !$0.isLetter && !$0.isNumber && $0 != "_" }
      for (keyword, name) in zip(words, words.dropFirst()) where keywords.contains(keyword) {
        declared.insert(String(name))
      }
      all.formUnion(words.map(String.init))
    }
    return (declared, all)
  }

  /// Words in backquotes that belong to Swift or Foundation.
  private static let foreign: Set<String> = ["await", "nil", "default", "DataRequest's"]

  /// Checks `Type.member(label:)`: each name must be declared, each label used.
  private static func missing(
    in code: String, _ symbols: (declared: Set<String>, words: Set<String>)
  ) -> [String] {
    let parts = code.split(separator: "(", maxSplits: 1)
    let names = (parts.first ?? "").split { !$0.isLetter && !$0.isNumber && $0 != "_" }.map(String.init)
    let labels = parts.dropFirst().flatMap { $0.split { !$0.isLetter && !$0.isNumber && $0 != "_" } }.map(String.init)
    return names.filter { !symbols.declared.contains($0) && !foreign.contains($0) }
      + labels.filter { $0 != "_" && !symbols.words.contains($0) }
  }

  @Test("every name in a \"here\" column is declared in the engine", arguments: ["Parts", "Names that differ"])
  func names(_ heading: String) throws {
    let symbols = try Self.symbols()
    let rows = try Self.rows(below: heading)
    #expect(rows.count >= 10)
    for row in rows {
      let codes = DocumentationTests.code(in: row[1])
      #expect(!codes.isEmpty, "\(row[0]) names nothing")
      for code in codes { #expect(Self.missing(in: code, symbols) == [], "\(row[0])") }
    }
    #expect(Self.missing(in: "Session.noSuchMember(noSuchLabel:)", symbols) == ["noSuchMember", "noSuchLabel"])
  }

  @Test("every difference names a test that exists")
  func differences() throws {
    let rows = try Self.rows(below: "Differences")
    #expect(rows.count >= 20)
    for row in rows {
      #expect(row.count == 3, "\(row)")
      let tests = DocumentationTests.code(in: row.last ?? "")
      #expect(!tests.isEmpty, "\(row[0]) names no test")
      for test in tests {
        let parts = test.split(separator: ".")
        let text = try DocumentationTests.text("Tests/TransferEngineTests/\(parts[0]).swift")
        #expect(text.contains("func \(parts[1])("), "\(test) does not exist")
      }
    }
  }

  // MARK: Differences

  @Test("a handler without a queue runs off the main thread")
  func threads() async throws {
    let server = try LoopbackServer { _ in .response(200) }
    let isMain = Watched<[Bool]>([])
    let request = Session().request(server.url("/")).response { _ in isMain.mutate { $0.append(Thread.isMainThread) } }
    _ = await request.response()
    try await isMain.wait(for: "the handler") { $0.isEmpty ? nil : () }
    #expect(isMain.value == [false])
  }

  @Test("validations and destinations of downloads run on the transfer loop's thread")
  func loopThread() async throws {
    let server = try LoopbackServer(.file(size: 1000))
    let fixture = try DownloadFixture()
    let threads = Watched<Set<UInt>>([])
    let path = fixture.path
    let note = { @Sendable in threads.mutate { _ = $0.insert(pthread_self()) } }
    let request = fixture.session.download(
      server.url("/"),
      to: { _, _ in
        note()
        return (URL(fileURLWithPath: path), [])
      }
    ).validate { _, _ in
      note()
      return .success
    }.downloadProgress { _ in note() }
    #expect(await request.response().error == nil)
    // Progress is reported on the loop's thread, so all three closures run on it.
    #expect(threads.value.count == 1)
  }

  @Test("a session keeps no cookie and no cached response for the next request")
  func stateless() async throws {
    let server = try LoopbackServer { _ in
      .response(200, headers: ["Set-Cookie": "a=b", "Cache-Control": "max-age=3600", "ETag": "\"1\""], text: "here")
    }
    let session = Session()
    for _ in 0..<2 { #expect(try await session.request(server.url("/")).serializingString().value == "here") }
    #expect(server.requests.count == 2)
    for request in server.requests {
      #expect(request.headers["Cookie"] == nil && request.headers["If-None-Match"] == nil)
    }
  }
}
