import Foundation
import Store
import TestSupport
import Testing
import TransferAPI

@testable import transferd

@Suite struct SpoolDirectoryTests {
  private func spools() throws -> (SpoolDirectory, TemporaryDirectory) {
    let directory = try TemporaryDirectory()
    return (SpoolDirectory(stateDirectory: directory.path), directory)
  }

  @Test("pieces become a file with the requested name")
  func pieces() throws {
    let (spools, directory) = try spools()
    let spool = try spools.create("dump.sql", for: geteuid())
    #expect(SpoolDirectory.isToken(spool.token))
    #expect(try spools.append(Array("abc".utf8), at: 0, to: spool.token, in: .everything).bytes == 3)
    #expect(try spools.append(Array("def".utf8), at: 3, to: spool.token, in: .everything).bytes == 6)
    // The response was lost, so the client sends the same piece again.
    #expect(try spools.append(Array("def".utf8), at: 3, to: spool.token, in: .everything).bytes == 6)
    #expect(throws: Problem.self) { try spools.append(Array("x".utf8), at: 7, to: spool.token, in: .everything) }
    let path = try spools.commit(spool.token, in: .everything)
    #expect(path == directory.path("spool/\(spool.token)/dump.sql"))
    #expect(try String(contentsOfFile: path, encoding: .utf8) == "abcdef")
    #expect(try spools.status(spool.token, in: .everything).bytes == 6)
    spools.remove(spool.token, in: .everything)
    #expect(try directory.names(in: "spool").isEmpty)
    #expect(throws: Problem.self) { try spools.commit(spool.token, in: .everything) }
  }

  @Test("a name that is not a plain file name is refused", arguments: ["", ".", "..", "a/b", "a\0b"])
  func names(_ name: String) throws {
    let (spools, directory) = try spools()
    defer { directory.remove() }
    #expect(throws: Problem.self) { try spools.create(name, for: geteuid()) }
  }

  @Test(
    "an invalid token gives access to nothing",
    arguments: ["..", "", "../../etc/passwd", String(repeating: "A", count: 32)])
  func tokens(_ token: String) throws {
    let (spools, directory) = try spools()
    try directory.file("keep", text: "x")
    #expect(spools.file(token, in: .everything) == nil)
    spools.remove(token, in: .everything)
    #expect(try directory.names() == ["keep"])
  }

  @Test("a piece that would leave too little space is refused, and nothing is written")
  func space() throws {
    let (spools, directory) = try spools()
    defer { directory.remove() }
    let token = try spools.create("a", for: geteuid()).token
    #expect {
      try spools.append([1, 2], at: 0, to: token, in: .everything, leaving: .max)
    } throws: {
      ($0 as? Problem)?.code == .diskFull
    }
    #expect(try spools.status(token, in: .everything).bytes == 0)
    #expect(try spools.append([1, 2], at: 0, to: token, in: .everything, leaving: 1).bytes == 2)
  }

  @Test("a member has a limited number of files without a job; the daemon's user and root have not")
  func limit() throws {
    let (spools, directory) = try spools()
    defer { directory.remove() }
    let member = geteuid() + 4001
    // One of them has a job.
    let known = [try spools.create("a", for: member).token: true]
    for _ in 1..<SpoolDirectory.maximumWithoutJob { _ = try spools.create("a", for: member) }
    let last = try spools.create("a", for: member, known: known).token
    #expect { try spools.create("a", for: member, known: known) } throws: { ($0 as? Problem)?.code == .notAllowed }
    _ = try spools.create("a", for: geteuid(), known: known)
    _ = try spools.create("a", for: member + 1, known: known)
    spools.remove(last, in: .owner(member))
    _ = try spools.create("a", for: member, known: known)
  }

  @Test("unneeded files are deleted, and files without a job are kept for a day")
  func sweep() throws {
    let (spools, directory) = try spools()
    defer { directory.remove() }
    let (ended, needed, fresh, old) = (
      try spools.create("a", for: geteuid()).token, try spools.create("b", for: geteuid()).token,
      try spools.create("c", for: geteuid()).token,
      try spools.create("d", for: geteuid()).token
    )
    let past = Date().addingTimeInterval(-2 * 86400)
    for token in [needed, old] {
      try FileManager.default.setAttributes(
        [.modificationDate: past], ofItemAtPath: try #require(spools.file(token, in: .everything)))
    }
    spools.sweep(known: [ended: false, needed: true], now: Date())
    #expect(spools.file(ended, in: .everything) == nil && spools.file(old, in: .everything) == nil)
    #expect(spools.file(needed, in: .everything) != nil && spools.file(fresh, in: .everything) != nil)
  }

  @Test("a token is valid for its creator, the daemon's user and root")
  func owners() throws {
    let (spools, directory) = try spools()
    let (alice, bob) = (UInt32(41_002), UInt32(41_003))
    let token = try spools.create("a", for: alice).token
    let own = try spools.create("a", for: geteuid()).token
    #expect(try directory.names(in: "spool") == [own, "\(token).\(alice)"].sorted())
    for scope in [Scope.owner(alice), .everything] {
      #expect(try spools.append(Array("abc".utf8), at: 0, to: token, in: scope).bytes == 3)
      #expect(try spools.status(token, in: scope).bytes == 3)
      #expect(try spools.commit(token, in: scope) == directory.path("spool/\(token).\(alice)/a"))
    }
    let none = String(repeating: "0", count: 32)
    func refusal(_ token: String, _ body: (String) throws -> Void) -> String? {
      do {
        try body(token)
        return nil
      } catch {
        return "\(error)".replacingOccurrences(of: token, with: "TOKEN")
      }
    }
    // The error is the same as for a token that does not exist.
    for (user, foreign) in [(bob, token), (bob, own), (alice, own)] {
      let scope = Scope.owner(user)
      for call: (String) throws -> Void in [
        { _ = try spools.append([0], at: 0, to: $0, in: scope) }, { _ = try spools.status($0, in: scope) },
        { _ = try spools.commit($0, in: scope) },
      ] {
        let text = refusal(foreign, call)
        #expect(text == "there is no spooled file with the token TOKEN" && text == refusal(none, call))
      }
      spools.remove(foreign, in: scope)
      #expect(spools.file(foreign, in: scope) == nil && spools.file(foreign, in: .everything) != nil)
    }
    #expect(try spools.status(token, in: .everything).bytes == 3)
    spools.remove(token, in: .owner(alice))
    #expect(try directory.names(in: "spool") == [own])
  }

  @Test("a member's files are swept like all others")
  func sweepOwned() throws {
    let (spools, directory) = try spools()
    let (ended, old) = (try spools.create("a", for: 41_002).token, try spools.create("b", for: 41_002).token)
    let fresh = try spools.create("c", for: 41_002).token
    let file = try #require(spools.file(old, in: .everything))
    try FileManager.default.setAttributes(
      [.modificationDate: Date().addingTimeInterval(-2 * 86400)], ofItemAtPath: file)
    spools.sweep(known: [ended: false], now: Date())
    #expect(try directory.names(in: "spool") == ["\(fresh).41002"])
  }
}
