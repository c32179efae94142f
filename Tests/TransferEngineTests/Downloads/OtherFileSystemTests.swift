import Foundation
import Glibc
import TestSupport
import Testing
import WireValues

@testable import TransferEngine

/// Part files whose destination is on another file system.
@Suite("part files on another file system", .timeLimit(.minutes(5))) struct OtherFileSystemTests {
  /// A directory for part files, and a small disk for destinations.
  private struct Scene {
    static let name = ".a.0123abcd.part"
    let temporary: TemporaryDirectory
    let disk: SmallDisk
    let parts: Directory
    let target: Directory

    init(kibibytes: Int) async throws {
      temporary = try TemporaryDirectory()
      disk = try await SmallDisk(at: try temporary.directory("disk"), kibibytes: kibibytes)
      parts = try Directory.open(try temporary.directory("parts"))
      target = try Directory.open(disk.path)
    }

    /// A part file with as many bytes of one value.
    func part(_ size: Int) throws -> PartialFile {
      let part = try PartialFile.create(in: parts, name: Self.name)
      let bytes = [UInt8](repeating: 7, count: size)
      try bytes.withUnsafeBytes { try part.write($0, at: 0) }
      return part
    }

    var partMode: mode_t? { FileFacts(temporary.path("parts/" + Self.name))?.mode }
    var names: [String] { get throws { try temporary.names(in: "disk") } }
  }

  @Test("a part file keeps mode 0600 until it has its final name", arguments: [false, true])
  func mode(isReplacing: Bool) async throws {
    let scene = try await Scene(kibibytes: 1024)
    let part = try scene.part(1000)
    let error = #expect(throws: TransferError.self) {
      try part.rename(to: "a", in: scene.target, replacing: isReplacing, permissions: 0o644)
    }
    guard case .file(.io(_, EXDEV))? = error else {
      Issue.record("\(String(describing: error))")
      return
    }
    #expect(scene.partMode == 0o600)
    #expect(try scene.names.isEmpty)
    // A name that is taken is no reason to open the file to others, either.
    try scene.temporary.file("parts/taken")
    #expect(throws: TransferError.self) { try part.rename(to: "taken", replacing: false, permissions: 0o644) }
    #expect(scene.partMode == 0o600)
    try part.rename(to: "a", replacing: false, permissions: 0o644)
    #expect(FileFacts(scene.temporary.path("parts/a"))?.mode == 0o644)
    try await scene.disk.unmount()
  }

  @Test("a file can be renamed on its own file system only")
  func renaming() async throws {
    let scene = try await Scene(kibibytes: 64)
    let beside = try Directory.open(scene.temporary.path)
    #expect(scene.parts.canRename(to: scene.parts))
    #expect(scene.parts.canRename(to: beside))
    #expect(!scene.parts.canRename(to: scene.target))
    try await scene.disk.unmount()
  }

  @Test("what an interrupted copy has left does not count as used space", arguments: ["", ".new", ".map"])
  func leftovers(suffix: String) async throws {
    // One copy fits, two do not.
    let scene = try await Scene(kibibytes: 1024)
    let part = try scene.part(700 << 10)
    try scene.temporary.file("disk/" + Scene.name + suffix, Data(count: 600 << 10))
    let copy = try part.copy(to: scene.target, leaving: 0, CopyStop())
    #expect(copy.size == 700 << 10)
    #expect(try scene.names == [Scene.name])
    try await scene.disk.unmount()
  }

  /// Bytes that the small disk has free when it is empty.
  private static func free(_ scene: Scene) throws -> Int64 { try #require(scene.target.freeBytes) }

  @Test("a copy leaves free what has to stay free, also for sums that do not fit", arguments: [0, 1, Int64.max])
  func leaving(_ excess: Int64) async throws {
    let scene = try await Scene(kibibytes: 1024)
    let part = try scene.part(400 << 10)
    let least = (try Self.free(scene) - part.size).saturatingSum(excess)
    guard excess > 0 else {
      _ = try part.copy(to: scene.target, leaving: least, CopyStop())
      #expect(try scene.names == [Scene.name])
      return try await scene.disk.unmount()
    }
    let error = #expect(throws: TransferError.self) {
      try part.copy(to: scene.target, leaving: least, CopyStop())
    }
    guard case .file(.diskFull(let message))? = error else {
      Issue.record("\(String(describing: error))")
      return
    }
    #expect(message.contains(scene.disk.path) && message.contains("\(least) have to stay free"))
    #expect(try scene.names.isEmpty)
    try await scene.disk.unmount()
  }

  @Test("the destination's space is checked before a byte is kept, if the length is known", arguments: [false, true])
  func destinationFirst(mustLeave: Bool) async throws {
    let payload = Payload(size: 8 << 20)
    let server = try LoopbackServer(.file(payload))
    let scene = try await Scene(kibibytes: mustLeave ? 10 << 10 : 4 << 10)
    var destination = try DownloadDestination(path: scene.disk.path + "/a")
    destination.partDirectory = scene.parts.path
    if mustLeave { destination.minimumFree = 4 << 20 }
    let (session, request) = (Session(), try TransferRequest.of(server))
    let response = await session.download(request, to: destination).response()
    guard case .file(.diskFull(let message))? = response.error else {
      Issue.record("\(String(describing: response.error))")
      return
    }
    #expect(message.contains(scene.disk.path))
    #expect(try scene.names.isEmpty)
    #expect(try scene.temporary.names(in: "parts").isEmpty)
    try await scene.disk.resize(kibibytes: 20 << 10)
    #expect(await session.download(request, to: destination).response().isSuccess)
    #expect(try sha256(ofFile: scene.disk.path + "/a") == payload.sha256)
    #expect(try scene.temporary.names(in: "parts").isEmpty)
    try await scene.disk.unmount()
  }

  /// A journal that keeps nothing.
  private struct NoJournal: DownloadJournal {
    func record(_ data: ResumeData) async throws {}
    func willRename(_ data: ResumeData) async throws {}
  }

  @Test("a checkpoint of a file of unknown length checks the destination")
  func checkpoint() async throws {
    let payload = Payload(size: 110 << 20)
    let (reached, proceed) = (Gate(), Gate())
    // There is a checkpoint before the server stops for good.
    let server = try LoopbackServer(
      FileBehaviour.file(payload).chunked().holding(after: 1 << 20, reached: reached, until: proceed)
        .holding(after: 100 << 20, until: Gate()))
    let scene = try await Scene(kibibytes: 4 << 10)
    var destination = try DownloadDestination(path: scene.disk.path + "/a")
    destination.partDirectory = scene.parts.path
    destination.minimumFree = 2 << 20
    let session = Session()
    let request = session.download(try TransferRequest.of(server), to: destination, journal: NoJournal()).resume()
    try await reached.wait()
    // Another program fills the disk during the transfer.
    scene.disk.fill()
    proceed.open()
    let response = await request.response()
    guard case .file(.diskFull(let message))? = response.error else {
      Issue.record("\(String(describing: response.error))")
      return
    }
    #expect(message.contains(scene.disk.path))
    #expect(response.bytesOnDisk < payload.size)
    try await scene.disk.unmount()
  }
}
