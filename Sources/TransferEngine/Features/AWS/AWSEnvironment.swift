import FoundationEssentials
import Glibc

/// The parts of the process's environment that AWS's tools use.
struct AWSEnvironment: Sendable {
  var variables: [String: String]
  /// Reads a file; `nil` if there is none.
  var read: @Sendable (String) -> String?

  static var current: AWSEnvironment {
    AWSEnvironment(variables: ProcessInfo.processInfo.environment) { path in
      guard let data = try? Data(contentsOf: URL(filePath: path)), data.count <= 1 << 20 else { return nil }
      return String(decoding: data, as: UTF8.self)
    }
  }

  subscript(name: String) -> String? {
    guard let value = variables[name], !value.isEmpty else { return nil }
    return value
  }

  /// Cron may not set HOME; then the user database is used.
  private var home: String {
    if let home = self["HOME"] { return home }
    guard let entry = getpwuid(getuid()), let directory = entry.pointee.pw_dir else { return "/" }
    return String(cString: directory)
  }

  var profiles: AWSProfiles {
    AWSProfiles(
      credentials: read(self["AWS_SHARED_CREDENTIALS_FILE"] ?? home + "/.aws/credentials") ?? "",
      config: read(self["AWS_CONFIG_FILE"] ?? home + "/.aws/config") ?? "")
  }
}
