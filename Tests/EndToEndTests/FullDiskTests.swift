import Foundation
import Glibc
import TestSupport
import Testing

/// E1: a file system without space. Mounting one needs root.
@Suite("a full disk", .timeLimit(.minutes(5))) struct FullDiskTests {
  /// How the daemon learns that the space does not suffice.
  enum Discovery: String, CaseIterable { case announcedLength, failingWrite }

  @Test("makes its job wait, the others go on, and it completes once there is space", arguments: Discovery.allCases)
  func destination(_ discovery: Discovery) async throws {
    let (large, small) = (Payload(size: 8 << 20, seed: 1), Payload(size: 100_000, seed: 2))
    let file = FileBehaviour.file(large)
    let server = try LoopbackServer(files: [
      "/large": discovery == .failingWrite ? file.chunked() : file, "/small": .file(small),
    ])
    let daemon = try await Daemon()
    let disk = try await SmallDisk(at: try daemon.directory.directory("disk"), kibibytes: 4096)
    let id = try await daemon.add(server.url("/large"), "-d", disk.path, "-o", "large")
    try await daemon.failed(with: "disk-full", id)
    let other = try await daemon.add(server.url("/small"), "-o", "small")
    try await daemon.expectCompleted(other, small, as: "small")
    let waiting = try await daemon.job(id)
    #expect(["retrying", "running"].contains(waiting.state))
    // Not counted, however often it looks.
    #expect(waiting.attempt <= 1)

    try await disk.resize(kibibytes: 32_768)
    #expect(try await daemon.finished(id).state == "completed")
    #expect(try sha256(ofFile: disk.path + "/large") == large.sha256)
    #expect(try daemon.directory.names(in: "disk") == ["large"])
    try await disk.unmount()
  }

  @Test("under the state refuses new jobs in words; the daemon lives, and nothing printed is lost")
  func state() async throws {
    let daemon = try await Daemon(isStarted: false)
    let disk = try await SmallDisk(at: try daemon.directory.directory("state"), kibibytes: 2048)
    try await daemon.start()
    let first = try await daemon.add("http://127.0.0.1:9/first", "--paused")
    disk.fill()
    let list = (0..<3000).map { "http://127.0.0.1:9/file\($0)\n" }.joined()
    let refused = try await daemon.ctl("add", "-i", "-", "--paused", input: Data(list.utf8))
    #expect(refused.status == 1)
    #expect(refused.stderr.contains("full"), "\(refused.stderr.prefix(500))")
    let printed = Set(refused.lines + [first])
    #expect(try await daemon.storedIDs() == printed)

    try await daemon.restart(by: SIGKILL)
    #expect(try await daemon.storedIDs() == printed)
    try await disk.resize(kibibytes: 32_768)
    let added = try await daemon.add("http://127.0.0.1:9/second", "--paused")
    #expect(try await daemon.storedIDs() == printed.union([added]))
    try await daemon.terminate()
    try await disk.unmount()
  }
}

/// A tmpfs of a given size.
private final class SmallDisk: Sendable {
  let path: String

  init(at path: String, kibibytes: Int) async throws {
    self.path = path
    try await Self.run("mount", "-t", "tmpfs", "-o", "size=\(kibibytes)k,mode=0700", "none", path)
  }

  deinit { umount2(path, Int32(MNT_DETACH)) }

  func resize(kibibytes: Int) async throws {
    try await Self.run("mount", "-o", "remount,size=\(kibibytes)k", path)
  }

  /// Takes all the space that is left.
  func fill() {
    let descriptor = open(path + "/filler", O_WRONLY | O_CREAT | O_CLOEXEC, 0o600)
    defer { close(descriptor) }
    var length = 1 << 16
    let zeros = [UInt8](repeating: 0, count: length)
    while length > 0 {
      if write(descriptor, zeros, length) <= 0 { length /= 2 }
    }
  }

  func unmount() async throws { try await Self.run("umount", "-l", path) }

  private static func run(_ program: String, _ arguments: String...) async throws {
    try await Launch(BuiltPrograms.system(program), arguments).runSuccessfully()
  }
}
