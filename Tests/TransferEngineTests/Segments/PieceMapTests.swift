import Foundation
import TestSupport
import Testing

@testable import TransferEngine

@Suite struct PieceMapTests {
  private let piece = PieceMap.pieceBytes
  private let name = ".file.bin.12.part"

  private struct Fixture {
    let temporary: TemporaryDirectory
    let directory: Directory
    let part: PartialFile

    init(_ name: String) throws {
      temporary = try TemporaryDirectory()
      directory = try Directory.open(temporary.path)
      part = try PartialFile.create(in: directory, name: name)
    }
  }

  @Test("only pieces that were written to their end are noted, and the last one may be short")
  func pieces() throws {
    let fixture = try Fixture(name)
    let total = 10 * piece + 5
    let subject = PieceMap.Subject(part: fixture.part.identity, total: total)
    let map = try #require(PieceMap.create(in: fixture.directory, partialName: name, subject, ByteRanges()))
    map.note(0..<piece - 1, within: 0..<piece - 1)
    #expect(read(fixture, subject, map) == ByteRanges())
    map.note(piece - 1..<piece + 3, within: 0..<piece + 3)
    #expect(read(fixture, subject, map) == ByteRanges(0..<piece))
    map.note(10 * piece..<total, within: 10 * piece..<total)
    map.note(5 * piece + 1..<7 * piece, within: 5 * piece + 1..<7 * piece)
    let ranges = try #require(read(fixture, subject, map))
    #expect(ranges.ranges == [0..<piece, 6 * piece..<7 * piece, 10 * piece..<total])
  }

  @Test("a new map has the pieces of the bytes that are on disk already")
  func beginning() throws {
    let fixture = try Fixture(name)
    let subject = PieceMap.Subject(part: fixture.part.identity, total: 100 * piece)
    var completed = ByteRanges(0..<3 * piece + 7)
    completed.insert(50 * piece - 1..<60 * piece)
    let map = try #require(PieceMap.create(in: fixture.directory, partialName: name, subject, completed))
    #expect(read(fixture, subject, map)?.ranges == [0..<3 * piece, 50 * piece..<60 * piece])
  }

  @Test("a map of another file, length or boot, a copy of it and a missing one prove nothing")
  func foreign() throws {
    let fixture = try Fixture(name)
    let other = try PartialFile.create(in: fixture.directory, name: ".other")
    let subject = PieceMap.Subject(part: fixture.part.identity, total: 10 * piece)
    let map = try #require(
      PieceMap.create(in: fixture.directory, partialName: name, subject, ByteRanges(0..<10 * piece)))
    #expect(read(fixture, subject, map)?.count == 10 * piece)
    for wrong in [
      PieceMap.Subject(part: other.identity, total: 10 * piece),
      PieceMap.Subject(part: fixture.part.identity, total: 10 * piece - 1),
      PieceMap.Subject(part: fixture.part.identity, total: 10 * piece, bootID: "another boot"),
    ] { #expect(read(fixture, wrong, map) == nil) }
    let path = fixture.temporary.path(PieceMap.name(of: name))
    let bytes = try Data(contentsOf: URL(fileURLWithPath: path))
    try FileManager.default.moveItem(atPath: path, toPath: path + ".old")
    #expect(read(fixture, subject, map) == nil)
    try bytes.write(to: URL(fileURLWithPath: path))
    #expect(read(fixture, subject, map) == nil)
  }

  @Test("a symbolic link in the place of a map is not followed, and is replaced by a new map")
  func link() throws {
    let fixture = try Fixture(name)
    let target = fixture.temporary.path("target")
    try Data("keep me".utf8).write(to: URL(fileURLWithPath: target))
    try FileManager.default.createSymbolicLink(
      atPath: fixture.temporary.path(PieceMap.name(of: name)), withDestinationPath: target)
    let subject = PieceMap.Subject(part: fixture.part.identity, total: piece)
    let map = try #require(PieceMap.create(in: fixture.directory, partialName: name, subject, ByteRanges(0..<piece)))
    #expect(read(fixture, subject, map)?.count == piece)
    #expect(try Data(contentsOf: URL(fileURLWithPath: target)) == Data("keep me".utf8))
  }

  private func read(_ fixture: Fixture, _ subject: PieceMap.Subject, _ map: PieceMap) -> ByteRanges? {
    PieceMap.read(in: fixture.directory, partialName: name, subject, expecting: map.identity)
  }
}
