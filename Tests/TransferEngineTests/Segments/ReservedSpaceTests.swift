import CLinux
import Foundation
import Glibc
import TestSupport
import Testing

@testable import TransferEngine

/// Space for a file that is fetched in segments.
@Suite struct ReservedSpaceTests {
  private static let size: Int64 = 4 << 20

  /// Length and allocated bytes of a new file after the call.
  private static func reserve(in path: String) throws -> (length: Int64, allocated: Int64) {
    let directory = try Directory.open(path)
    let part = try PartialFile.create(in: directory, name: ".reserved-\(UUID()).part")
    part.reserveSpace(size)
    var status = stat()
    #expect(fstatat(directory.descriptor, part.name, &status, 0) == 0)
    #expect(unlinkat(directory.descriptor, part.name, 0) == 0)
    return (Int64(status.st_size), Int64(status.st_blocks) * 512)
  }

  private static func isMemory(_ path: String) -> Bool {
    let descriptor = open(path, O_RDONLY | O_DIRECTORY)
    defer { close(descriptor) }
    return linux_file_system_type(descriptor) == 0x0102_1994
  }

  @Test("a file on a disk keeps its length", .enabled(if: !isMemory("/tmp"), "/tmp is in memory"))
  func disk() throws {
    let temporary = try TemporaryDirectory()
    let reserved = try Self.reserve(in: temporary.path)
    #expect(reserved.length == 0)
  }

  @Test("memory is not filled before bytes arrive", .enabled(if: isMemory("/dev/shm"), "/dev/shm is no tmpfs"))
  func memory() throws {
    let reserved = try Self.reserve(in: "/dev/shm")
    #expect(reserved == (0, 0))
  }
}
