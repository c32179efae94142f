import Foundation
import Glibc
import TestSupport
import Testing

@testable import TransferEngine

@Suite(.timeLimit(.minutes(5))) struct DestinationTests {
  static let payload = Payload(size: 200_000)

  enum Obstacle: String, CaseIterable {
    case file, directory, symlink, danglingSymlink, fifo

    /// Creates the obstacle at `path`. A link points to `target`.
    func plant(at path: String, target: String) throws {
      switch self {
      case .file: try Data("mine".utf8).write(to: URL(fileURLWithPath: path))
      case .directory: #expect(mkdir(path, 0o755) == 0)
      case .symlink:
        try Data("mine".utf8).write(to: URL(fileURLWithPath: target))
        #expect(Glibc.symlink(target, path) == 0)
      case .danglingSymlink: #expect(Glibc.symlink(target, path) == 0)
      case .fifo: #expect(mkfifo(path, 0o600) == 0)
      }
    }
  }

  @Test(
    "an existing destination is not changed, and no request is sent",
    arguments: Obstacle.allCases)
  func refused(_ obstacle: Obstacle) async throws {
    let server = try LoopbackServer(.file(Self.payload))
    let fixture = try DownloadFixture()
    let target = fixture.directory.path("target")
    try obstacle.plant(at: fixture.path, target: target)
    let before = try #require(FileFacts(fixture.path))
    let response = try await fixture.download(server).response()
    guard case .file(.destinationExists(let path))? = response.error else {
      Issue.record("\(String(describing: response.error))")
      return
    }
    #expect(path == fixture.path)
    #expect(response.error?.isTransient == false)
    #expect(FileFacts(fixture.path)?.inode == before.inode)
    if obstacle == .symlink { #expect(try String(contentsOfFile: target, encoding: .utf8) == "mine") }
    #expect(try fixture.names().filter { $0.hasSuffix(".part") } == [])
    #expect(server.requests.isEmpty)
  }

  @Test("a file that appears while the download runs is not replaced")
  func appears() async throws {
    let (reached, arrived, proceed) = (Gate(), Gate(), Gate())
    let server = try LoopbackServer(.file(Self.payload).holding(after: 1000, reached: reached, until: proceed))
    let fixture = try DownloadFixture()
    let request = try fixture.download(server)
    // The destination is checked when the head arrives, so this waits until bytes have arrived.
    request.downloadProgress { if $0.completed >= 1000 { arrived.open() } }
    request.resume()
    try await arrived.wait()
    try fixture.directory.file(DownloadFixture.name, text: "mine")
    proceed.open()
    let response = await request.response()
    guard case .file(.destinationExists)? = response.error else {
      Issue.record("\(String(describing: response.error))")
      return
    }
    #expect(try String(contentsOfFile: fixture.path, encoding: .utf8) == "mine")
    // The bytes are complete and can still be renamed.
    #expect(response.resumeData?.isVerified == true)
    unlink(fixture.path)
    let again = try await fixture.download(server, resumingWith: response.resumeData?.encoded()).response()
    #expect(again.isSuccess)
    #expect(server.requests.count == 1)
    try fixture.expectOnly(Self.payload)
  }

  @Test("removePreviousFile replaces a file and keeps its permissions", arguments: [0o600, 0o640, 0o755] as [mode_t])
  func replaced(_ mode: mode_t) async throws {
    let server = try LoopbackServer(.file(Self.payload))
    let fixture = try DownloadFixture()
    try fixture.directory.file(DownloadFixture.name, text: "old")
    chmod(fixture.path, mode)
    let response = try await fixture.download(server, options: .removePreviousFile).response()
    #expect(response.isSuccess)
    try fixture.expectOnly(Self.payload)
    #expect(FileFacts(fixture.path)?.mode == mode)
  }

  @Test(
    "removePreviousFile replaces a symbolic link but not its target", arguments: [Obstacle.symlink, .danglingSymlink])
  func link(_ obstacle: Obstacle) async throws {
    let server = try LoopbackServer(.file(Self.payload))
    let fixture = try DownloadFixture()
    let elsewhere = try TemporaryDirectory()
    try obstacle.plant(at: fixture.path, target: elsewhere.path("target"))
    #expect(try await fixture.download(server, options: .removePreviousFile).response().isSuccess)
    try fixture.expectOnly(Self.payload)
    #expect(FileFacts(fixture.path)?.isLink == false)
    if obstacle == .symlink {
      #expect(try String(contentsOfFile: elsewhere.path("target"), encoding: .utf8) == "mine")
    } else {
      #expect(FileFacts(elsewhere.path("target")) == nil)
    }
  }

  @Test("a FIFO is never replaced, as little as a device")
  func fifo() async throws {
    let server = try LoopbackServer(.file(Self.payload))
    let fixture = try DownloadFixture()
    try Obstacle.fifo.plant(at: fixture.path, target: "")
    let before = try #require(FileFacts(fixture.path))
    let response = try await fixture.download(server, options: .removePreviousFile).response()
    guard case .file(.destinationExists)? = response.error else {
      Issue.record("\(String(describing: response.error))")
      return
    }
    #expect(FileFacts(fixture.path)?.inode == before.inode)
  }

  @Test("a directory is never replaced")
  func directory() async throws {
    let server = try LoopbackServer(.file(Self.payload))
    let fixture = try DownloadFixture()
    try fixture.directory.file("\(DownloadFixture.name)/inside", text: "mine")
    let response = try await fixture.download(server, options: .removePreviousFile).response()
    guard case .file(.destinationExists)? = response.error else {
      Issue.record("\(String(describing: response.error))")
      return
    }
    #expect(try fixture.directory.names(in: DownloadFixture.name) == ["inside"])
  }

  @Test("a missing directory is an error unless createIntermediateDirectories is set")
  func missingDirectory() async throws {
    let server = try LoopbackServer(.file(Self.payload))
    let fixture = try DownloadFixture()
    let path = fixture.directory.path("a/b/c/file.bin")
    let response = try await fixture.download(.of(server), to: path).response()
    guard case .file(.directoryMissing)? = response.error else {
      Issue.record("\(String(describing: response.error))")
      return
    }
    #expect(response.error?.isTransient == false)
    #expect(try fixture.names() == [])
    #expect(server.requests.isEmpty)
    let made = try await fixture.download(.of(server), to: path, options: .createIntermediateDirectories).response()
    #expect(made.isSuccess)
    #expect(try fixture.directory.names(in: "a/b/c") == ["file.bin"])
    #expect(try sha256(ofFile: path) == Self.payload.sha256)
  }

  @Test("a file in the place of the directory is an error")
  func fileAsDirectory() async throws {
    let server = try LoopbackServer(.file(Self.payload))
    let fixture = try DownloadFixture()
    try fixture.directory.file("a", text: "mine")
    for options in [[], .createIntermediateDirectories] as [DownloadOptions] {
      let response = try await fixture.download(.of(server), to: fixture.directory.path("a/file"), options: options)
        .response()
      #expect(response.error != nil)
      #expect(response.error?.isTransient == false)
    }
    #expect(try String(contentsOfFile: fixture.directory.path("a"), encoding: .utf8) == "mine")
  }

  @Test(
    "an existing file, link or FIFO with the part file's name does not disturb the download",
    arguments: [Obstacle.file, .symlink, .danglingSymlink, .fifo], ["", ".new"])
  func plantedPart(_ obstacle: Obstacle, _ ending: String) async throws {
    let server = try LoopbackServer(.file(Self.payload))
    let fixture = try DownloadFixture()
    let elsewhere = try TemporaryDirectory()
    try obstacle.plant(at: fixture.directory.path(".f.part" + ending), target: elsewhere.path("target"))
    let response = try await fixture.download(.of(server), partialName: ".f.part").response()
    #expect(response.isSuccess)
    // A file with the additional ending is not touched.
    if !ending.isEmpty { #expect(unlink(fixture.directory.path(".f.part" + ending)) == 0) }
    try fixture.expectOnly(Self.payload)
    if obstacle == .symlink {
      #expect(try String(contentsOfFile: elsewhere.path("target"), encoding: .utf8) == "mine")
    } else {
      #expect(try elsewhere.names() == [])
    }
  }
}
