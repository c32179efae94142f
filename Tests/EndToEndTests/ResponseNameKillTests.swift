import Foundation
import TestSupport
import Testing

/// Part files of jobs whose files are named by the response.
@Suite("part files of files that the response names", .timeLimit(.minutes(5))) struct ResponseNameKillTests {
  enum Place: String, CaseIterable { case beside, partDirectory, otherFileSystem }
  enum End: String, CaseIterable { case complete, cancel, remove }

  @Test(
    "a kill before the rename leaves no part file, however the job ends", arguments: Place.allCases, End.allCases)
  func kill(_ place: Place, _ end: End) async throws {
    let payload = Payload(size: 50_000, seed: 11)
    let (reached, proceed, again) = (Gate(), Gate(), Gate())
    var file = FileBehaviour.file(payload).contentDisposition("attachment; filename=\"given.bin\"")
      .holding(after: 1000, reached: reached, until: proceed, on: .at(0))
    if end != .complete { file = file.holding(after: 1000, reached: again, until: Gate(), on: .at(1)) }
    let server = try LoopbackServer(file)
    let daemon = try await Daemon()
    let parts = place == .otherFileSystem ? "/dev/shm/td-named-\(UUID().uuidString)" : daemon.directory.path("parts")
    try FileManager.default.createDirectory(atPath: parts, withIntermediateDirectories: false)
    defer { try? FileManager.default.removeItem(atPath: parts) }
    let id = try await daemon.addJob(
      [server.url("/x?id=1"), "-J", "-d", daemon.downloads] + (place == .beside ? [] : ["--part-dir", parts]))
    try await reached.wait()
    let trap = try await Interception(
      daemon, calls: "rename,renameat,renameat2", paths: [daemon.downloads], doing: "signal=KILL")
    proceed.open()
    try await trap.waitForHit(daemon)
    func left() throws -> [String] { try daemon.fileNames + FileManager.default.contentsOfDirectory(atPath: parts) }
    #expect(try !left().isEmpty && !left().contains("given.bin"))
    try await daemon.start()
    if end == .complete {
      try await daemon.expectCompleted(id, payload, as: "given.bin")
      #expect(try left() == ["given.bin"])
    } else {
      try await again.wait()
      #expect(try await daemon.ctl(end.rawValue, id).status == 0)
      try await eventually("the part files to be gone") { try left().isEmpty }
    }
  }
}
