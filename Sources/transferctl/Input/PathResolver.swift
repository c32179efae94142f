import FoundationEssentials
import Glibc
import WireValues

/// Makes paths absolute: the daemon has another working directory.
struct PathResolver: Sendable {
  private let environment: [String: String]

  init(environment: [String: String] = ProcessInfo.processInfo.environment) { self.environment = environment }

  /// Resolves `.` and `..`, but keeps symbolic links, except before `..`, which is resolved as the kernel does. The
  /// daemon accepts no `..`.
  /// - Throws: `CommandFailure` if the path is invalid or the current directory is unknown.
  func absolute(_ path: String, relativeTo base: String? = nil) throws -> String {
    guard !path.isEmpty else { throw CommandFailure(.usage, "a path is empty; name a file or directory") }
    guard !path.utf8.contains(0) else { throw CommandFailure(.usage, "a path has a NUL byte: \(path)") }
    let whole = path.isAbsolutePath ? path : try (base ?? currentDirectory()) + "/" + path
    var components: [Substring] = []
    for component in whole.componentsOfPath where component != "." {
      guard component == ".." else {
        guard component.utf8.count <= 255 else {
          throw CommandFailure(
            .usage, "a name in the path is longer than 255 bytes: \(component.prefix(40))…")
        }
        components.append(component)
        continue
      }
      let here = "/" + components.joined(separator: "/")
      guard let real = Self.real(here) else {
        throw CommandFailure(
          .cannotCreate, "cannot follow \"..\" in \(path): \(here): \(String(cString: strerror(errno)))")
      }
      components = real.componentsOfPath.dropLast()
    }
    return "/" + components.joined(separator: "/")
  }

  /// `$PWD` if it names the current directory, because it keeps the user's symbolic links; else getcwd(3).
  func currentDirectory() throws -> String {
    if let named = environment["PWD"], named.isAbsolutePath, !named.componentsOfPath.contains(".."),
      Self.isSame(named, ".")
    {
      return named
    }
    var buffer = [CChar](repeating: 0, count: Int(PATH_MAX) + 1)
    guard getcwd(&buffer, buffer.count) != nil else {
      throw CommandFailure(
        .usage, "cannot determine the current directory: \(String(cString: strerror(errno))); use absolute paths")
    }
    guard let path = Self.text(buffer) else {
      throw CommandFailure(.usage, "the current directory's name is not UTF-8; use absolute paths")
    }
    return path
  }

  static func isDirectory(_ path: String) -> Bool {
    var information = stat()
    return stat(path, &information) == 0 && information.st_mode & S_IFMT == S_IFDIR
  }

  /// Whether there is something, also behind a link.
  static func exists(_ path: String) -> Bool { access(path, F_OK) == 0 }

  private static func isSame(_ one: String, _ other: String) -> Bool {
    var (first, second) = (stat(), stat())
    return stat(one, &first) == 0 && stat(other, &second) == 0
      && first.st_dev == second.st_dev && first.st_ino == second.st_ino
  }

  private static func real(_ path: String) -> String? {
    guard let resolved = realpath(path, nil) else { return nil }
    defer { free(resolved) }
    return String(validatingCString: resolved)
  }

  private static func text(_ buffer: [CChar]) -> String? {
    buffer.withUnsafeBufferPointer { String(validatingCString: $0.baseAddress!) }
  }
}
