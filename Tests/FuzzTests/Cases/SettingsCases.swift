import FoundationEssentials
import Glibc

@testable import transferd

extension FuzzCase {
  static let settings = [configuration]

  /// The daemon's configuration file.
  private static let configuration = FuzzCase("configuration") { bytes in
    let path = "/dev/shm/transferd-fuzz-\(getpid())-\(pthread_self())"
    defer { unlink(path) }
    do { try Data(bytes).write(to: URL(filePath: path)) } catch { return }
    do throws(DaemonConfiguration.Invalid) {
      let file = try ConfigurationFile(path: path)
      var configuration = DaemonConfiguration()
      for entry in file.entries { try entry.key.apply(entry.value, to: &configuration) }
      try? require(configuration.limits.maxAttempts > 0, "no attempt is allowed")
    } catch {
      try require(!error.description.isEmpty, "an error has no description")
    }
  }
}
