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
    let copy = try part.copy(to: scene.target, CopyStop())
    #expect(copy.size == 700 << 10)
    #expect(try scene.names == [Scene.name])
    try await scene.disk.unmount()
  }
}
