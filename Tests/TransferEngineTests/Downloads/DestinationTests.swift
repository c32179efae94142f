import Foundation
import Glibc
import TestSupport
import Testing

@testable import TransferEngine

@Suite(.timeLimit(.minutes(5))) struct DestinationTests {
  static let payload = Payload(size: 200_000)

  enum Obstacle: String, CaseIterable {
    case file, directory, symlink, danglingSymlink, fifo

    /// Puts it in the way; a link leads to `target`.
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
    "whatever has the destination's name is left alone, and nothing is asked of the server",
    arguments: Obstacle.allCases)
  func refused(_ obstacle: Obstacle) async throws {
    let server = try LoopbackServer(.file(Self.payload))
    let room = try DownloadRoom()
    let target = room.directory.path("target")
    try obstacle.plant(at: room.path, target: target)
    let before = try #require(FileFacts(room.path))
    let response = try await room.download(server).response()
    guard case .file(.destinationExists(let path))? = response.error else {
      Issue.record("\(String(describing: response.error))")
      return
    }
    #expect(path == room.path)
    #expect(response.error?.isTransient == false)
    #expect(FileFacts(room.path)?.inode == before.inode)
    if obstacle == .symlink { #expect(try String(contentsOfFile: target, encoding: .utf8) == "mine") }
    #expect(try room.names().filter { $0.hasSuffix(".part") } == [])
    #expect(server.requests.isEmpty)
  }

  @Test("a file that appears while the download runs is not replaced")
  func appears() async throws {
    let (reached, arrived, proceed) = (Gate(), Gate(), Gate())
    let server = try LoopbackServer(.file(Self.payload).holding(after: 1000, reached: reached, until: proceed))
    let room = try DownloadRoom()
    let request = try room.download(server)
    // Not when the bytes are sent, but when they are there: the name is looked at when the head comes.
    request.downloadProgress { if $0.completed >= 1000 { arrived.open() } }
    request.resume()
    try await arrived.wait()
    try room.directory.file(DownloadRoom.name, text: "mine")
    proceed.open()
    let response = await request.response()
    guard case .file(.destinationExists)? = response.error else {
      Issue.record("\(String(describing: response.error))")
      return
    }
    #expect(try String(contentsOfFile: room.path, encoding: .utf8) == "mine")
    // The bytes are whole and can still get a name.
    #expect(response.resumeData?.isVerified == true)
    unlink(room.path)
    let again = try await room.download(server, resumingWith: response.resumeData?.encoded()).response()
    #expect(again.isSuccess)
    #expect(server.requests.count == 1)
    try room.expectOnly(Self.payload)
  }

  @Test("a file that may be replaced is, and its permissions stay", arguments: [0o600, 0o640, 0o755] as [mode_t])
  func replaced(_ mode: mode_t) async throws {
    let server = try LoopbackServer(.file(Self.payload))
    let room = try DownloadRoom()
    try room.directory.file(DownloadRoom.name, text: "old")
    chmod(room.path, mode)
    let response = try await room.download(server, options: .removePreviousFile).response()
    #expect(response.isSuccess)
    try room.expectOnly(Self.payload)
    #expect(FileFacts(room.path)?.mode == mode)
  }

  @Test("a link that may be replaced is, and what it leads to stays", arguments: [Obstacle.symlink, .danglingSymlink])
  func link(_ obstacle: Obstacle) async throws {
    let server = try LoopbackServer(.file(Self.payload))
    let room = try DownloadRoom()
    let elsewhere = try TemporaryDirectory()
    try obstacle.plant(at: room.path, target: elsewhere.path("target"))
    #expect(try await room.download(server, options: .removePreviousFile).response().isSuccess)
    try room.expectOnly(Self.payload)
    #expect(FileFacts(room.path)?.isLink == false)
    if obstacle == .symlink {
      #expect(try String(contentsOfFile: elsewhere.path("target"), encoding: .utf8) == "mine")
    } else {
      #expect(FileFacts(elsewhere.path("target")) == nil)
    }
  }

  @Test("a directory is never replaced")
  func directory() async throws {
    let server = try LoopbackServer(.file(Self.payload))
    let room = try DownloadRoom()
    try room.directory.file("\(DownloadRoom.name)/inside", text: "mine")
    let response = try await room.download(server, options: .removePreviousFile).response()
    guard case .file(.destinationExists)? = response.error else {
      Issue.record("\(String(describing: response.error))")
      return
    }
    #expect(try room.directory.names(in: DownloadRoom.name) == ["inside"])
  }

  @Test("a missing directory is an error, and made only when asked for")
  func missingDirectory() async throws {
    let server = try LoopbackServer(.file(Self.payload))
    let room = try DownloadRoom()
    let path = room.directory.path("a/b/c/file.bin")
    let response = try await room.download(.of(server), to: path).response()
    guard case .file(.directoryMissing)? = response.error else {
      Issue.record("\(String(describing: response.error))")
      return
    }
    #expect(response.error?.isTransient == false)
    #expect(try room.names() == [])
    #expect(server.requests.isEmpty)
    let made = try await room.download(.of(server), to: path, options: .createIntermediateDirectories).response()
    #expect(made.isSuccess)
    #expect(try room.directory.names(in: "a/b/c") == ["file.bin"])
    #expect(try sha256(ofFile: path) == Self.payload.sha256)
  }

  @Test("a file in the place of the directory is an error")
  func fileAsDirectory() async throws {
    let server = try LoopbackServer(.file(Self.payload))
    let room = try DownloadRoom()
    try room.directory.file("a", text: "mine")
    for options in [[], .createIntermediateDirectories] as [DownloadOptions] {
      let response = try await room.download(.of(server), to: room.directory.path("a/file"), options: options)
        .response()
      #expect(response.error != nil)
      #expect(response.error?.isTransient == false)
    }
    #expect(try String(contentsOfFile: room.directory.path("a"), encoding: .utf8) == "mine")
  }

  @Test(
    "what is planted under the part file's name is neither followed nor waited for",
    arguments: [Obstacle.file, .symlink, .danglingSymlink, .fifo], ["", ".new"])
  func plantedPart(_ obstacle: Obstacle, _ ending: String) async throws {
    let server = try LoopbackServer(.file(Self.payload))
    let room = try DownloadRoom()
    let elsewhere = try TemporaryDirectory()
    try obstacle.plant(at: room.directory.path(".f.part" + ending), target: elsewhere.path("target"))
    let response = try await room.download(.of(server), partialName: ".f.part").response()
    #expect(response.isSuccess)
    // Beside the part file's name nothing is touched that is not needed.
    if !ending.isEmpty { #expect(unlink(room.directory.path(".f.part" + ending)) == 0) }
    try room.expectOnly(Self.payload)
    if obstacle == .symlink {
      #expect(try String(contentsOfFile: elsewhere.path("target"), encoding: .utf8) == "mine")
    } else {
      #expect(try elsewhere.names() == [])
    }
  }
}
