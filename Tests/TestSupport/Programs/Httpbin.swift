import Foundation
import Glibc

/// httpbin under gunicorn on 127.0.0.1: methods, authentication, redirects, codings, cookies, delays, streams.
///
/// Debian's packages `python3-httpbin` and `gunicorn`, started with the system's own Python.
public final class Httpbin: Sendable {
  public let port: UInt16
  private let process: ChildProcess
  private let directory: TemporaryDirectory

  /// Starts it and waits until it listens. Throws when it is not installed.
  public init() async throws {
    directory = try TemporaryDirectory()
    let program = "/usr/bin/gunicorn"
    guard access(program, X_OK) == 0 else {
      throw TestSupportError.missingProgram(
        "gunicorn", searched: ["/usr/bin (apt-get install gunicorn python3-httpbin)"])
    }
    process = try ChildProcess(
      Launch(
        program,
        [
          "--preload", "--worker-class", "gthread", "--threads", "8", "--workers", "1", "--bind", "127.0.0.1:0",
          "httpbin:app",
        ],
        directory: directory.path))
    let mark = "Listening at: http://127.0.0.1:"
    do {
      try await process.waitForErrors("Booting worker", timeout: .seconds(60))
    } catch {
      throw TestSupportError.failed(program: "gunicorn", reason: "\(error): \(process.errorsSoFar)")
    }
    let text = process.errorsSoFar
    guard let found = text.range(of: mark), let port = UInt16(text[found.upperBound...].prefix { $0.isNumber }) else {
      throw TestSupportError.failed(program: "gunicorn", reason: text)
    }
    self.port = port
  }

  deinit { process.signalGroup(SIGKILL) }

  /// The URL of a path, which begins with `/`.
  public func url(_ path: String) -> String { "http://127.0.0.1:\(port)\(path)" }
}
