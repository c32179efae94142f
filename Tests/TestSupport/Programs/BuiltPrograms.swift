import Foundation
import Glibc

/// Where the programs that the tests start are found.
public enum BuiltPrograms {
  /// The path of a program of this package, which the build puts beside the test bundle.
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
