import Foundation
import TestSupport
import Testing
import TransferAPI

@testable import transferd

@Suite struct SpoolDirectoryTests {
  private func spools() throws -> (SpoolDirectory, TemporaryDirectory) {
    let directory = try TemporaryDirectory()
    return (SpoolDirectory(stateDirectory: directory.path), directory)
  }

  @Test("pieces become a file under the name that was asked for")
  func pieces() throws {
    let (spools, directory) = try spools()
    let spool = try spools.create("dump.sql")
    #expect(SpoolDirectory.isToken(spool.token))
    #expect(try spools.append(Array("abc".utf8), at: 0, to: spool.token).bytes == 3)
    #expect(try spools.append(Array("def".utf8), at: 3, to: spool.token).bytes == 6)
    // An answer was lost: the same piece again.
    #expect(try spools.append(Array("def".utf8), at: 3, to: spool.token).bytes == 6)
    #expect(throws: Problem.self) { try spools.append(Array("x".utf8), at: 7, to: spool.token) }
    let path = try spools.commit(spool.token)
    #expect(path == directory.path("spool/\(spool.token)/dump.sql"))
    #expect(try String(contentsOfFile: path, encoding: .utf8) == "abcdef")
    #expect(try spools.status(spool.token).bytes == 6)
    spools.remove(spool.token)
    #expect(try directory.names(in: "spool").isEmpty)
    #expect(throws: Problem.self) { try spools.commit(spool.token) }
  }

  @Test("a name that leads elsewhere is refused", arguments: ["", ".", "..", "a/b", "a\0b"])
  func names(_ name: String) throws {
    let (spools, directory) = try spools()
    defer { directory.remove() }
    #expect(throws: Problem.self) { try spools.create(name) }
  }

  @Test(
    "a token that is none reaches nothing",
    arguments: ["..", "", "../../etc/passwd", String(repeating: "A", count: 32)])
  func tokens(_ token: String) throws {
    let (spools, directory) = try spools()
    try directory.file("keep", text: "x")
    #expect(spools.file(token) == nil)
    spools.remove(token)
    #expect(try directory.names() == ["keep"])
  }

  @Test("what nobody needs any more goes; what a client may still come back for stays a day")
  func sweep() throws {
    let (spools, directory) = try spools()
    defer { directory.remove() }
    let (ended, needed, fresh, old) = (
      try spools.create("a").token, try spools.create("b").token, try spools.create("c").token,
      try spools.create("d").token
    )
    let past = Date().addingTimeInterval(-2 * 86400)
    for token in [needed, old] {
      try FileManager.default.setAttributes([.modificationDate: past], ofItemAtPath: try #require(spools.file(token)))
    }
    spools.sweep(known: [ended: false, needed: true], now: Date())
    #expect(spools.file(ended) == nil && spools.file(old) == nil)
    #expect(spools.file(needed) != nil && spools.file(fresh) != nil)
  }
}
