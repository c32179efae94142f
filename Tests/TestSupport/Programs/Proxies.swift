import Foundation
import Glibc

/// A real HTTP proxy, tinyproxy, on 127.0.0.1; it forwards and tunnels to any port.
public final class Tinyproxy: Sendable {
  public let port: UInt16
  private let process: ChildProcess
  private let directory: TemporaryDirectory

  /// - Parameters:
  ///   - credentials: the required `user` and `password`.
  ///   - forbidding: a host that it refuses.
  public init(
    credentials: (user: String, password: String)? = nil, forbidding host: String? = nil
  ) async throws {
    let program = try BuiltPrograms.system("tinyproxy")
    directory = try TemporaryDirectory()
    if let host { try directory.file("filter", text: "\(host)\n") }
    (process, port) = try await startedOnFreePort("tinyproxy") { [directory] port in
      var lines = [
        "Port \(port)", "Listen 127.0.0.1", "Timeout 30", "MaxClients 100", "LogLevel Connect",
        "LogFile \"\(directory.path("log"))\"",
      ]
      if let credentials { lines.append("BasicAuth \(credentials.user) \(credentials.password)") }
      if host != nil { lines.append("Filter \"\(directory.path("filter"))\"") }
      try directory.file("tinyproxy.conf", text: lines.joined(separator: "\n") + "\n")
      return Launch(program, ["-d", "-c", directory.path("tinyproxy.conf")], directory: directory.path)
    }
  }

  deinit { process.signalGroup(SIGKILL) }

  /// The log so far.
  public var log: String { (try? String(contentsOfFile: directory.path("log"), encoding: .utf8)) ?? "" }
}

/// A real SOCKS5 proxy, microsocks, on 127.0.0.1.
public final class Microsocks: Sendable {
  public let port: UInt16
  private let process: ChildProcess

  public init(credentials: (user: String, password: String)? = nil) async throws {
    let program = try BuiltPrograms.system("microsocks")
    let login = credentials.map { ["-u", $0.user, "-P", $0.password] } ?? []
    (process, port) = try await startedOnFreePort("microsocks") { port in
      Launch(program, ["-i", "127.0.0.1", "-p", "\(port)"] + login)
    }
  }

  deinit { process.signalGroup(SIGKILL) }

  /// The log so far, with a line for each connection.
  public var log: String { process.errorsSoFar }

  /// Suspends until the log contains a text.
  public func waitForLog(_ text: String) async throws { try await process.waitForErrors(text) }
}

/// Starts a server on a free port and waits until it listens. If another program takes the port, it tries another one.
func startedOnFreePort(
  _ name: String, _ launch: (UInt16) throws -> Launch
) async throws -> (ChildProcess, UInt16) {
  var lastError: any Error = TestSupportError.timedOut("\(name) to listen", after: .seconds(30))
  for _ in 0..<5 {
    let port = try freePort()
    let process = try ChildProcess(launch(port))
    let deadline = ContinuousClock.now + .seconds(30)
    // A foreign program cannot report that it is ready: poll.
    while ContinuousClock.now < deadline, process.isRunning {
      if process.isListening(on: port) { return (process, port) }
      try await Task.sleep(for: .milliseconds(5))
    }
    process.signalGroup(SIGKILL)
    lastError = TestSupportError.failed(program: name, reason: process.errorsSoFar)
  }
  throw lastError
}
