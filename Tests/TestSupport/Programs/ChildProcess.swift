import Foundation
import Glibc

/// A program that runs as a child in its own process group; its output is read as it arrives.
///
/// The child inherits no descriptor and, by default, no environment. When the object is released, the whole group is
/// killed, so a failed test leaves no process behind.
public final class ChildProcess: Sendable {
  /// How a child ended.
  public enum Ending: Sendable, Equatable {
    case exit(Int32)
    case signal(Int32)
  }

  /// The result of a child that has ended, with its output.
  public struct Result: Sendable {
    public let ending: Ending
    public let output: Data
    public let errors: Data
    /// The time from the start to the end.
    public let duration: Duration
    /// Whether both output streams have ended. If not, another process still has them open.
    public let isOutputComplete: Bool

    /// The exit code; `nil` when a signal ended the child.
    public var status: Int32? { if case .exit(let status) = ending { status } else { nil } }
    public var stdout: String { String(decoding: output, as: UTF8.self) }
    public var stderr: String { String(decoding: errors, as: UTF8.self) }
    /// Standard output without its empty last line.
    public var lines: [String] { stdout.split(separator: "\n").map(String.init) }
  }

  struct State: Sendable {
    var output = Data()
    var errors = Data()
    var openStreams = 2
    /// Set after the child is reaped; then its pid may belong to another process.
    var ending: Ending?
    var endedAt: ContinuousClock.Instant?
  }

  public let pid: pid_t
  private let launch: Launch
  private let startedAt = ContinuousClock.now
  private let state: Watched<State>

  /// Starts the program; its path comes from `BuiltPrograms`.
  public init(_ launch: Launch) throws {
    self.launch = launch
    let state = Watched(State())
    self.state = state
    let child = try launch.start()
    pid = child.pid
    collect(child.output, into: \.output)
    collect(child.errors, into: \.errors)
    if let descriptor = child.input { send(launch.input, to: descriptor) }
    startThread { [pid] in reap(pid, state) }
  }

  deinit { signalGroup(SIGKILL) }

  /// The ending; `nil` while the child runs.
  public var ending: Ending? { state.value.ending }
  public var isRunning: Bool { ending == nil }
  /// The child's standard output so far.
  public var outputSoFar: String { String(decoding: state.value.output, as: UTF8.self) }
  /// The child's standard error so far.
  public var errorsSoFar: String { String(decoding: state.value.errors, as: UTF8.self) }

  /// Sends a signal to the child only. Returns `false` if the child has ended.
  ///
  /// The lock prevents the reaping, so the pid is the child's.
  @discardableResult
  public func kill(_ signal: Int32) -> Bool {
    state.mutate { [pid] state in state.ending == nil && Glibc.kill(pid, signal) == 0 }
  }

  /// Sends a signal to the child's process group, even when the child itself has ended and others remain.
  public func signalGroup(_ signal: Int32) {
    state.mutate { [pid] state in
      if state.ending == nil || state.openStreams > 0 { _ = killpg(pid, signal) }
    }
  }

  /// Suspends until the child has ended.
  @discardableResult
  public func waitForEnd(timeout: Duration = .seconds(120)) async throws -> Ending {
    try await state.wait(for: "the end of \(launch.name)", timeout: timeout) { $0.ending }
  }

  /// Suspends until the child has ended. At the timeout, or if the task is cancelled, it kills the child and throws.
  public func result(timeout: Duration = .seconds(120)) async throws -> Result {
    do {
      try await waitForEnd(timeout: timeout)
    } catch {
      signalGroup(SIGKILL)
      throw TestSupportError.failed(
        program: launch.name,
        reason: "\(error)\nstdout: \(outputSoFar.suffix(2000))\nstderr: \(errorsSoFar.suffix(4000))")
    }
    try? await state.wait(for: "the end of its output", timeout: .seconds(30)) {
      $0.openStreams == 0 ? () : nil
    }
    let last = state.value
    return Result(
      ending: last.ending!, output: last.output, errors: last.errors,
      duration: last.endedAt! - startedAt, isOutputComplete: last.openStreams == 0)
  }

  /// Suspends until standard output contains a text.
  public func waitForOutput(_ text: String, timeout: Duration = .seconds(120)) async throws {
    try await waitForText(text, in: \.output, timeout)
  }

  /// Suspends until standard error contains a text.
  public func waitForErrors(_ text: String, timeout: Duration = .seconds(120)) async throws {
    try await waitForText(text, in: \.errors, timeout)
  }

  private func waitForText(
    _ text: String, in stream: KeyPath<State, Data> & Sendable, _ timeout: Duration
  ) async throws {
    try await state.wait(for: "\"\(text)\" from \(launch.name)", timeout: timeout) {
      $0[keyPath: stream].contains(text) ? () : nil
    }
  }

  private func collect(_ descriptor: Int32?, into stream: WritableKeyPath<State, Data> & Sendable) {
    guard let descriptor else {
      state.mutate { $0.openStreams -= 1 }
      return
    }
    startThread { [state] in
      readToEnd(descriptor) { piece in state.mutate { $0[keyPath: stream].append(piece) } }
      state.mutate { $0.openStreams -= 1 }
    }
  }
}

/// Waits for the child without reaping it, then reaps it under the lock that guards its pid.
private func reap(_ pid: pid_t, _ state: Watched<ChildProcess.State>) {
  var info = siginfo_t()
  while waitid(P_PID, id_t(pid), &info, WEXITED | WNOWAIT) < 0 && errno == EINTR {}
  state.mutate { state in
    var status: Int32 = 0
    while waitpid(pid, &status, 0) < 0 && errno == EINTR {}
    let signal = status & 0x7F
    state.ending = signal == 0 ? .exit((status >> 8) & 0xFF) : .signal(signal)
    state.endedAt = .now
  }
}

private func readToEnd(_ descriptor: Int32, _ body: (Data) -> Void) {
  var buffer = [UInt8](repeating: 0, count: 1 << 16)
  while true {
    let count = read(descriptor, &buffer, buffer.count)
    if count < 0 && errno == EINTR { continue }
    guard count > 0 else { break }
    body(Data(buffer[..<count]))
  }
  close(descriptor)
}

/// Writes the child's input on a separate thread. SIGPIPE stays pending on that thread and disappears with it.
private func send(_ data: Data, to descriptor: Int32) {
  startThread {
    var signals = sigset_t()
    sigemptyset(&signals)
    sigaddset(&signals, SIGPIPE)
    pthread_sigmask(SIG_BLOCK, &signals, nil)
    data.withUnsafeBytes { bytes in
      var sent = 0
      while sent < bytes.count {
        let count = write(descriptor, bytes.baseAddress! + sent, bytes.count - sent)
        if count < 0 && errno == EINTR { continue }
        guard count > 0 else { break }
        sent += count
      }
    }
    close(descriptor)
  }
}
