import Foundation
import Glibc

/// A tmpfs of a given size. Mounting needs root.
public final class SmallDisk: Sendable {
  public let path: String

  public init(at path: String, kibibytes: Int) async throws {
    self.path = path
    try await Self.run("mount", "-t", "tmpfs", "-o", "size=\(kibibytes)k,mode=0700", "none", path)
  }

  deinit { umount2(path, Int32(MNT_DETACH)) }

  /// Changes the size; the content stays.
  public func resize(kibibytes: Int) async throws {
    try await Self.run("mount", "-o", "remount,size=\(kibibytes)k", path)
  }

  /// Fills the remaining space.
  public func fill() {
    let descriptor = open(path + "/filler", O_WRONLY | O_CREAT | O_CLOEXEC, 0o600)
    defer { close(descriptor) }
    var length = 1 << 16
    let zeros = [UInt8](repeating: 0, count: length)
    while length > 0 {
      if write(descriptor, zeros, length) <= 0 { length /= 2 }
    }
  }

  /// Removes it, also while files are open.
  public func unmount() async throws { try await Self.run("umount", "-l", path) }

  private static func run(_ program: String, _ arguments: String...) async throws {
    try await Launch(BuiltPrograms.system(program), arguments).runSuccessfully()
  }
}
