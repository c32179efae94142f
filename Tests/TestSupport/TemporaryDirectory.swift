import Foundation
import Glibc

/// A new directory for one test with mode 0700, which is removed with its content when the object is released.
///
/// It lies under /tmp with a short name, so that a Unix socket within it stays below the 107 bytes of
/// `sun_path` (unix(7)).
public final class TemporaryDirectory: Sendable {
  public let path: String

  public init() throws {
    var template = Array("/tmp/td-XXXXXX".utf8CString)
    guard let made = mkdtemp(&template) else {
      throw TestSupportError.system(call: "make a temporary directory", code: errno)
    }
    path = String(cString: made)
  }

  deinit { remove() }

  public var url: URL { URL(fileURLWithPath: path, isDirectory: true) }

  /// The path of something within the directory.
  public func path(_ name: String) -> String { path + "/" + name }

  /// Makes a file with this content, and the directories above it, and returns its path.
  @discardableResult
  public func file(_ name: String, _ content: Data = Data()) throws -> String {
    let target = URL(fileURLWithPath: path(name))
    try FileManager.default.createDirectory(
      at: target.deletingLastPathComponent(), withIntermediateDirectories: true)
    try content.write(to: target)
    return target.path
  }

  /// Makes a file with this text and returns its path.
  @discardableResult
  public func file(_ name: String, text: String) throws -> String {
    try file(name, Data(text.utf8))
  }

  /// Makes a directory within and returns its path.
  @discardableResult
  public func directory(_ name: String) throws -> String {
    try FileManager.default.createDirectory(atPath: path(name), withIntermediateDirectories: true)
    return path(name)
  }

  /// The sorted names in the directory or a directory in it.
  public func names(in name: String = "") throws -> [String] {
    try FileManager.default.contentsOfDirectory(atPath: path(name)).sorted()
  }

  /// Removes the directory now. Unreadable directories are made readable first.
  public func remove() {
    if (try? FileManager.default.removeItem(atPath: path)) != nil { return }
    if let below = FileManager.default.enumerator(atPath: path) {
      for case let name as String in below { _ = chmod(path(name), 0o700) }
    }
    try? FileManager.default.removeItem(atPath: path)
  }
}
