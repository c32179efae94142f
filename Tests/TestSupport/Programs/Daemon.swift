import Foundation
import Glibc
import Synchronization

/// A real `transferd` with a state directory and a socket of its own, and `transferctl` to speak to it.
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
  /// Holds all of it; removed with the fixture.
  public let directory: TemporaryDirectory
  public let stateDirectory: String
  public let socketPath: String
  /// An empty directory for what a test downloads; the working directory of `transferctl`.
  public let downloads: String

  /// How a stop went.
  public struct Stop: Sendable {
    public let ending: ChildProcess.Ending
    /// From the signal to the end.
    public let duration: Duration
    /// All that this run wrote to standard error.
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
  ///   - arguments: come after `--state-dir` and `--socket`.
  ///   - environment: added to a clean one; reaches `transferctl` too.
  ///   - config: written to a file that `--config` names.
  ///   - wrapper: a program and its arguments that end by executing the daemon, for every start.
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
      // On a busy machine nobody is to be taken for dead; who tests that says so.
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

  /// The process now running, or the last one.
  public var process: ChildProcess? { run.withLock { $0?.process } }
  public var pid: pid_t? { process?.pid }
  /// What the present run has written to standard error so far.
  public var log: String { process?.errorsSoFar ?? "" }
  /// What the daemon has told its service manager: `READY=1`, `STATUS=…`, `WATCHDOG=1`.
  public var notifications: [String] { run.withLock { $0?.notify.heard.value ?? [] } }

  /// Suspends until the daemon has told its service manager this so many times.
  public func waitForNotification(_ text: String, count: Int = 1, timeout: Duration = .seconds(120)) async throws {
    guard let heard = run.withLock({ $0?.notify.heard }) else { return }
    try await heard.wait(for: "\(count) × \(text)", timeout: timeout) { lines in
      lines.count { $0 == text } >= count ? () : nil
    }
  }

  /// The path of a file of the state directory.
  public func statePath(_ name: String) -> String { "\(stateDirectory)/\(name)" }

  /// Starts the daemon without waiting, for tests of a start that fails; more arguments may be given.
  ///
  /// - Parameter wrapper: a program and its arguments that end by executing what follows them.
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

  /// Starts the daemon and waits until it says `READY=1`; an early end is thrown, with the log.
  public func start(timeout: Duration = .seconds(120)) async throws {
    try launch()
    try await waitUntilReady(timeout: timeout)
  }

  /// Waits until the daemon says `READY=1`.
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
        program: "transferd", reason: "said READY=1 without listening on its socket")
    }
  }

  /// Kills the daemon as a power cut would, and returns when it is gone.
  public func kill9() async throws {
    _ = try await stop(by: SIGKILL)
  }

  /// Asks the daemon to stop by SIGTERM and returns how it did.
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

  /// What `transferctl` is started with; change it for another directory, input, or output.
  public func ctlLaunch(_ arguments: [String]) throws -> Launch {
    var environment = environment
    environment["TRANSFERCTL_NO_AUTOSTART"] = "1"
    return Launch(
      try BuiltPrograms.path("transferctl"), arguments + ["--socket", socketPath], environment: environment,
      directory: downloads)
  }
}
