import Foundation
import Glibc

/// An independent server written in Python, on 127.0.0.1, with its own directory.
///
/// The packages are in a virtual environment that `scripts/install-dependencies.sh test` makes:
/// `TRANSFERD_TEST_PEERS`, by default `~/.cache/transferd/peers`.
public final class PythonPeer: Sendable {
  public let port: UInt16
  /// The directory of the server's files.
  public let directory: TemporaryDirectory
  private let process: ChildProcess

  public static var environment: String {
    let own = ProcessInfo.processInfo.environment
    if let chosen = own["TRANSFERD_TEST_PEERS"] { return chosen }
    return (own["XDG_CACHE_HOME"] ?? (own["HOME"] ?? "/root") + "/.cache") + "/transferd/peers"
  }

  /// Starts a server and waits until it accepts connections.
  /// - Parameters:
  ///   - arguments: for the interpreter; made from the port and the directory.
  init(
    _ name: String, in directory: TemporaryDirectory? = nil, environment: [String: String] = [:],
    arguments: (UInt16, String) -> [String]
  ) async throws {
    let program = Self.environment + "/bin/python"
    guard access(program, X_OK) == 0 else {
      throw TestSupportError.missingProgram(
        "\(name) (run scripts/install-dependencies.sh test)", searched: [Self.environment])
    }
    let directory = try directory ?? TemporaryDirectory()
    let home = Launch.cleanEnvironment.merging(["HOME": directory.path]) { _, new in new }
    var lastError: any Error = TestSupportError.missingProgram(name, searched: [])
    // Another program may take the port before the server binds it: retry with another port.
    for _ in 0..<5 {
      let port = try freePort()
      let process = try ChildProcess(
        Launch(
          program, arguments(port, directory.path), environment: home.merging(environment) { _, new in new },
          directory: directory.path))
      do {
        try await Self.waitUntilReady(process, name, port)
      } catch {
        lastError = error
        continue
      }
      self.port = port
      self.directory = directory
      self.process = process
      return
    }
    throw lastError
  }

  deinit { process.signalGroup(SIGKILL) }

  public func url(_ target: String) -> String { "http://127.0.0.1:\(port)\(target)" }

  /// The server's output so far, for a failed test.
  public var log: String { process.outputSoFar + process.errorsSoFar }

  /// Kills the server, like a power cut.
  public func kill() async throws {
    process.signalGroup(SIGKILL)
    try await process.waitForEnd()
  }

  /// Stops the server (SIGSTOP) or continues it.
  public func freeze(_ isFrozen: Bool) { process.signalGroup(isFrozen ? SIGSTOP : SIGCONT) }

  /// A foreign program cannot report that it is ready: this polls.
  private static func waitUntilReady(_ process: ChildProcess, _ name: String, _ port: UInt16) async throws {
    let deadline = ContinuousClock.now + .seconds(40)
    while ContinuousClock.now < deadline {
      guard process.isRunning else {
        throw TestSupportError.failed(program: name, reason: try await process.result().stderr)
      }
      if process.isListening(on: port) { return }
      try await Task.sleep(for: .milliseconds(20))
    }
    throw TestSupportError.timedOut("\(name) to listen", after: .seconds(40))
  }
}
