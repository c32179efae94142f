import Foundation
import TestSupport
import Testing

@testable import transferd

@Suite struct RelaySpoolTests {
  private static func make(_ spool: RelaySpool, _ place: String) throws {
    let path = spool.path(of: place)
    try FileManager.default.createDirectory(
      atPath: (path as NSString).deletingLastPathComponent, withIntermediateDirectories: true)
    #expect(FileManager.default.createFile(atPath: path, contents: Data("x".utf8)))
  }

  @Test(
    "the copy has the source's name, made safe, in a directory of its own",
    arguments: [
      ("https://h/a/b%20c.iso?x=1", "b c.iso"), ("https://h/..%2F..%2Fetc%2Fpasswd", "passwd"),
      ("https://h/", "download"),
    ])
  func place(_ url: String, _ name: String) {
    let parts = RelaySpool.place(of: url).split(separator: "/").map(String.init)
    #expect(parts.count == 2 && SpoolDirectory.isToken(parts[0]))
    #expect(parts.last?.hasSuffix(name) == true, "\(parts)")
    #expect(RelaySpool.place(of: url) != RelaySpool.place(of: url))
  }

  @Test("a copy is removed with its part file; a sweep leaves what a job needs, and other names")
  func sweep() throws {
    let directory = try TemporaryDirectory()
    let spool = RelaySpool(stateDirectory: try directory.directory("state"))
    try spool.prepare()
    try spool.prepare()
    let places = (0..<4).map { RelaySpool.place(of: "https://h/\($0)") }
    for place in places { try Self.make(spool, place) }
    try Self.make(spool, String(places[0].prefix(32)) + "/.0.part")
    try Self.make(spool, "other/file")
    spool.remove(places[0])
    spool.remove("../" + places[1])
    spool.remove("")
    #expect(!FileManager.default.fileExists(atPath: (spool.path(of: places[0]) as NSString).deletingLastPathComponent))
    // The second is needed, the third is not any more, the fourth belongs to no job.
    spool.sweep(known: [places[1]: true, places[2]: false, "x": true])
    let names = try FileManager.default.contentsOfDirectory(atPath: spool.directory)
    #expect(Set(names) == [String(places[1].prefix(32)), "other"])
  }
}
