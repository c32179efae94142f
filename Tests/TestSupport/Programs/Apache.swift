import Foundation
import Glibc

/// A real Apache httpd on 127.0.0.1 that serves a temporary directory with pages of mod_autoindex.
public final class Apache: Sendable {
  /// The served directory.
  public let root: String
  public let port: UInt16
  private let directory: TemporaryDirectory
  private let process: ChildProcess

  /// - Parameter indexOptions: the value of the directive `IndexOptions`.
  public init(indexOptions: String) async throws {
    let program = try BuiltPrograms.system("apache2")
    directory = try TemporaryDirectory()
    root = try directory.directory("www")
    // Started by root, it serves as another user.
    chmod(directory.path, 0o755)
    chmod(root, 0o755)
    let user = geteuid() == 0 ? "User nobody\nGroup nogroup" : ""
    let modules = ["mpm_event", "authz_core", "dir", "autoindex"].map {
      "LoadModule \($0)_module /usr/lib/apache2/modules/mod_\($0).so"
    }
    (process, port) = try await startedOnFreePort("apache2") { [directory, root] port in
      try directory.file(
        "apache.conf",
        text: """
          ServerName 127.0.0.1
          Listen 127.0.0.1:\(port)
          ServerRoot "\(directory.path)"
          DefaultRuntimeDir "\(directory.path)"
          PidFile "\(directory.path("pid"))"
          ErrorLog "\(directory.path("error.log"))"
          \(modules.joined(separator: "\n"))
          \(user)
          DocumentRoot "\(root)"
          <Directory "\(root)">
            Options Indexes
            IndexOptions \(indexOptions)
            Require all granted
          </Directory>

          """)
      return Launch(program, ["-f", directory.path("apache.conf"), "-DFOREGROUND"], directory: directory.path)
    }
  }

  deinit { process.signalGroup(SIGKILL) }

  /// The URL of a path, which begins with `/`.
  public func url(_ path: String) -> String { "http://127.0.0.1:\(port)\(path)" }
}
