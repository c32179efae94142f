import Foundation
import Glibc
import Synchronization

/// A real `transferd` with its own state directory and socket, and `transferctl` to control it.
///
/// ```swift
/// let daemon = try await Daemon()
/// let id = try await daemon.add(server.url("/a.iso"), "-d", daemon.downloads)
/// try await reached.wait()
/// try await daemon.kill9()
/// try await daemon.start()
/// #expect(try await daemon.ctl("wait", id).status == 0)
/// ```
public final class Daemon: Sendable {
  /// The directory of all files; it is removed with the fixture.
  public let directory: TemporaryDirectory
  public let stateDirectory: String
  public let socketPath: String
  /// An empty directory for downloads, and the working directory of `transferctl`.
  public let downloads: String

  /// The result of a stop.
  public struct Stop: Sendable {
    public let ending: ChildProcess.Ending
    /// The time from the signal to the end.
    public let duration: Duration
    /// The standard error of this run.
    public let log: String
  }

  private struct Run {
    let process: ChildProcess
    let notify: NotifySocket
  }

  private let wrapper: [String]
  private let arguments: [String]
  private let environment: [String: String]
  private let run = Mutex<Run?>(nil)
  private let runs = Mutex(0)

  /// Makes the directories and starts the daemon, unless `isStarted` is false, and waits until it is ready.
  ///
  /// - Parameters:
  ///   - arguments: follow `--state-dir` and `--socket`.
  ///   - environment: is added to a clean environment, also that of `transferctl`.
  ///   - config: the content of the file for `--config`.
  ///   - wrapper: a command that executes its arguments, used for every start of the daemon.
  public init(
    _ arguments: String..., environment: [String: String] = [:], config: String? = nil,
    through wrapper: [String] = [], isStarted: Bool = true
  ) async throws {
    self.wrapper = wrapper
    directory = try TemporaryDirectory()
    stateDirectory = directory.path("state")
    socketPath = directory.path("run/s")
    downloads = try directory.directory("downloads")
    let runtime = try directory.directory("run")
    chmod(runtime, 0o700)
    let home = try directory.directory("home")
    var configuration: [String] = []
    if let config { configuration = ["--config", try directory.file("config.yaml", text: config)] }
    self.arguments = ["--state-dir", stateDirectory, "--socket", socketPath] + configuration + arguments
    let own = [
      "HOME": home, "XDG_RUNTIME_DIR": runtime, "XDG_STATE_HOME": home + "/state",
      // On a busy machine a slow response is no failure; tests of this timeout set their own.
      "TRANSFERCTL_ANSWER_TIMEOUT": "60", "TRANSFERD_STALL_TIMEOUT": "10m",
    ]
    self.environment = Launch.cleanEnvironment
      .merging(own) { $1 }
      .merging(environment) { $1 }
    if isStarted { try await start() }
  }

  deinit {
    run.withLock { $0?.process.signalGroup(SIGKILL) }
  }

  /// The running process, or the last one.
  public var process: ChildProcess? { run.withLock { $0?.process } }
  public var pid: pid_t? { process?.pid }
  /// The standard error of the current run so far.
  public var log: String { process?.errorsSoFar ?? "" }
  /// The daemon's messages to its service manager: `READY=1`, `STATUS=…`, `WATCHDOG=1`.
  public var notifications: [String] { run.withLock { $0?.notify.heard.value ?? [] } }

  /// Suspends until the daemon has sent this message `count` times.
  public func waitForNotification(_ text: String, count: Int = 1, timeout: Duration = .seconds(120)) async throws {
    guard let heard = run.withLock({ $0?.notify.heard }) else { return }
    try await heard.wait(for: "\(count) × \(text)", timeout: timeout) { lines in
      lines.count { $0 == text } >= count ? () : nil
    }
  }

  /// The path of a file in the state directory.
  public func statePath(_ name: String) -> String { "\(stateDirectory)/\(name)" }

  /// Starts the daemon without waiting, for tests of a start that fails; more arguments may be given.
  ///
  /// - Parameter wrapper: a command that executes its arguments.
  @discardableResult
  public func launch(
    _ more: String..., through wrapper: [String] = [], environment added: [String: String] = [:]
  ) throws -> ChildProcess {
    let number = runs.withLock { count in
      count += 1
      return count
    }
    let notify = try NotifySocket(path: directory.path("notify\(number)"))
    let environment = environment.merging(["NOTIFY_SOCKET": notify.path]) { $1 }.merging(added) { $1 }
    let program = try self.wrapper.isEmpty ? BuiltPrograms.path("transferd") : BuiltPrograms.publicPath("transferd")
    let command = self.wrapper + wrapper + [program] + arguments + more
    let process = try ChildProcess(
      Launch(
        command[0], Array(command.dropFirst()), environment: environment, directory: directory.path
      ))
    run.withLock { $0 = Run(process: process, notify: notify) }
    return process
  }

  /// Starts the daemon and waits for `READY=1`; throws with the log if the daemon ends before.
  public func start(timeout: Duration = .seconds(120)) async throws {
    try launch()
    try await waitUntilReady(timeout: timeout)
  }

  /// Waits for `READY=1`.
  public func waitUntilReady(timeout: Duration = .seconds(120)) async throws {
    guard let current = run.withLock({ $0 }) else { return }
    try await withThrowingTaskGroup(of: Void.self) { group in
      group.addTask {
        try await current.notify.heard.wait(for: "READY=1", timeout: timeout) {
          $0.contains("READY=1") ? () : nil
        }
      }
      group.addTask {
        let ending = try await current.process.waitForEnd(timeout: .seconds(86_400))
        throw TestSupportError.failed(program: "transferd", reason: "\(ending) before it was ready")
      }
      defer { group.cancelAll() }
      do {
        try await group.next()
      } catch {
        throw TestSupportError.failed(
          program: "transferd", reason: "\(error)\n\(current.process.errorsSoFar)")
      }
    }
    guard isListening(onUnixSocket: socketPath) else {
      throw TestSupportError.failed(
        program: "transferd", reason: "sent READY=1 without listening on its socket")
    }
  }

  /// Kills the daemon with SIGKILL and returns when it has ended.
  public func kill9() async throws {
    _ = try await stop(by: SIGKILL)
  }

  /// Stops the daemon by SIGTERM and returns the result.
  @discardableResult
  public func terminate(timeout: Duration = .seconds(120)) async throws -> Stop {
    try await stop(by: SIGTERM, timeout: timeout)
  }

  /// Sends a signal to the running daemon.
  public func signal(_ signal: Int32) {
    process?.kill(signal)
  }

  /// Stops the daemon by a signal and starts it again.
  public func restart(by signal: Int32 = SIGTERM) async throws {
    _ = try await stop(by: signal)
    try await start()
  }

  private func stop(by signal: Int32, timeout: Duration = .seconds(120)) async throws -> Stop {
    guard let process else {
      throw TestSupportError.failed(program: "transferd", reason: "it was never started")
    }
    let start = ContinuousClock.now
    process.kill(signal)
    let result = try await process.result(timeout: timeout)
    return Stop(ending: result.ending, duration: .now - start, log: result.stderr)
  }

  /// The launch of `transferctl`; change it for another directory, input or output.
  public func ctlLaunch(_ arguments: [String]) throws -> Launch {
    var environment = environment
    environment["TRANSFERCTL_NO_AUTOSTART"] = "1"
    return Launch(
      try BuiltPrograms.path("transferctl"), arguments + ["--socket", socketPath], environment: environment,
      directory: downloads)
  }
}
