import Foundation
import Glibc
import TestSupport

/// Attaches strace(1) to a running daemon and acts at certain system calls on certain files.
final class Interception: Sendable {
  private let strace: ChildProcess

  /// Attaches to every thread, and returns when it is tracing.
  /// - Parameters:
  ///   - calls: system calls, separated by commas.
  ///   - paths: only calls on these files, by descriptor or name.
  ///   - action: the text after `:` in `-e inject=`; `signal=KILL` kills the daemon before the call.
  init(_ daemon: Daemon, calls: String, paths: [String], doing action: String) async throws {
    guard let pid = daemon.pid else {
      throw TestSupportError.failed(program: "strace", reason: "the daemon does not run")
    }
    strace = try ChildProcess(
      Launch(
        BuiltPrograms.system("strace"),
        ["-f", "-p", "\(pid)", "-e", "trace=\(calls)", "-e", "inject=\(calls):\(action)"]
          + paths.flatMap { ["-P", $0] }))
    try await strace.waitForErrors("\(pid) attached")
  }

  deinit { strace.signalGroup(SIGKILL) }

  /// Suspends until the injected signal has killed the daemon.
  func waitForHit(_ daemon: Daemon) async throws {
    guard let process = daemon.process else { return }
    let ending = try await process.waitForEnd()
    guard ending == .signal(SIGKILL) else {
      throw TestSupportError.failed(program: "transferd", reason: "\(ending) in place of the kill")
    }
    _ = try await strace.result()
  }

  /// Suspends until the injected signal has stopped the daemon.
  func waitForStop() async throws {
    try await strace.waitForErrors("stopped by SIGSTOP")
  }

  /// Suspends until the injected signal has stopped the daemon, continues it, and suspends until it was killed at its next
  /// commit.
  func waitForKillAtNextCommit(_ daemon: Daemon) async throws {
    try await waitForStop()
    try await detach()
    let commit = try await Interception(
      daemon, calls: "fdatasync,fsync", paths: [daemon.statePath("transferd.db-wal")], doing: "signal=KILL")
    daemon.signal(SIGCONT)
    try await commit.waitForHit(daemon)
  }

  /// Detaches from the daemon, which stays stopped if it was.
  func detach() async throws {
    strace.kill(SIGINT)
    _ = try await strace.result()
  }
}
