import Foundation
import Glibc
import Synchronization

/// The paths of the programs that tests start.
public enum BuiltPrograms {
  /// The path of a program of this package, which is beside the test bundle.
  ///
  /// `TRANSFERD_BIN_DIR` names another directory, to test an installation or a release build.
  public static func path(_ name: String) throws -> String {
    try find(name, in: buildDirectories)
  }

  /// The path of a program of the system, from PATH or the administrator's directories.
  public static func system(_ name: String) throws -> String {
    let path = ProcessInfo.processInfo.environment["PATH"] ?? "/usr/bin:/bin"
    return try find(
      name, in: path.split(separator: ":").map(String.init) + ["/usr/sbin", "/sbin", "/usr/bin"])
  }

  /// The path of a program of this package that other users can execute: the built one, or a link or copy if they cannot
  /// reach that.
  public static func publicPath(_ name: String) throws -> String {
    let path = try path(name)
    guard !isReachable(path) else { return path }
    return try publicDirectory.withLock { directory in
      if directory == nil {
        var template = Array("/tmp/td-bin-XXXXXX".utf8CString)
        guard let made = mkdtemp(&template) else {
          throw TestSupportError.system(call: "make a temporary directory", code: errno)
        }
        directory = String(cString: made)
        chmod(made, 0o755)
        atexit { BuiltPrograms.publicDirectory.withLock { $0.map { try? FileManager.default.removeItem(atPath: $0) } } }
      }
      let copy = "\(directory ?? "/tmp")/\(name)"
      if access(copy, F_OK) != 0, link(path, copy) != 0 { try FileManager.default.copyItem(atPath: path, toPath: copy) }
      return copy
    }
  }

  /// Holds links to the programs; removed when the tests end.
  private static let publicDirectory = Mutex<String?>(nil)

  /// Whether other users may enter every directory above.
  private static func isReachable(_ path: String) -> Bool {
    var directory = ""
    return path.split(separator: "/").dropLast().allSatisfy { component in
      directory += "/" + component
      var status = stat()
      return stat(directory, &status) == 0 && status.st_mode & S_IXOTH != 0
    }
  }

  private static var buildDirectories: [String] {
    if let chosen = ProcessInfo.processInfo.environment["TRANSFERD_BIN_DIR"] { return [chosen] }
    let executables = [
      (try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")) ?? "",
      CommandLine.arguments[0],
      Bundle.main.executablePath ?? "",
    ]
    return executables.filter { !$0.isEmpty }.map {
      URL(fileURLWithPath: $0).resolvingSymlinksInPath().deletingLastPathComponent().path
    }
  }

  private static func find(_ name: String, in directories: [String]) throws -> String {
    for directory in directories where access("\(directory)/\(name)", X_OK) == 0 {
      return "\(directory)/\(name)"
    }
    throw TestSupportError.missingProgram(name, searched: directories)
  }
}
