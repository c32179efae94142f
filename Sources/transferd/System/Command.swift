import CLinux
import Glibc
import Subprocess
import SystemPackage
import Threads
import TransferEngine
import WireValues

/// A program with its arguments, which runs without a shell. It inherits only the three standard descriptors, and gets the
/// environment from `ChildEnvironment`.
struct Command: Equatable, Sendable {
  var arguments: [String]

  enum End: Equatable, Sendable {
    case exited(Int32)
    case signaled(Int32)
    /// It was terminated at the timeout.
    case timedOut
    /// It printed more than this many bytes.
    case printedTooMuch(limit: Int)
    /// The program does not exist or could not be started.
    case notStarted(String)
  }

  /// Time between SIGTERM and SIGKILL at the timeout.
  private static let terminationGracePeriod = Duration.seconds(2)

  /// Runs the program with a text as standard input. Its output goes to the daemon's log.
  func run(input: String, environment: [String: String], timeout: Duration) async -> End {
    guard let program = arguments.first else { return .notStarted("the command is empty") }
    let log = FileDescriptor(rawValue: STDERR_FILENO)
    do {
      // A file in memory instead of a pipe: a program that does not read its input cannot block the daemon.
      let text = try MemoryFile(input)
      return try await withTimeout(timeout) {
        let result = try await Subprocess.run(
          executable(program), arguments: Arguments(Array(arguments.dropFirst())),
          environment: Self.environment(environment), platformOptions: Self.options,
          input: .fileDescriptor(text.descriptor, closeAfterSpawningProcess: false),
          output: .fileDescriptor(log, closeAfterSpawningProcess: false),
          error: .fileDescriptor(log, closeAfterSpawningProcess: false))
        return Self.end(result.terminationStatus)
      } ?? .timedOut
    } catch {
      return .notStarted("\(error)")
    }
  }

  /// Runs the program without input and returns its output.
  func output(limit: Int, timeout: Duration) async -> (end: End, text: String) {
    guard let program = arguments.first else { return (.notStarted("the command is empty"), "") }
    do {
      return try await withTimeout(timeout) {
        let result = try await Subprocess.run(
          executable(program), arguments: Arguments(Array(arguments.dropFirst())),
          environment: Self.environment([:]), platformOptions: Self.options, input: .none,
          output: .string(limit: limit),
          error: .fileDescriptor(FileDescriptor(rawValue: STDERR_FILENO), closeAfterSpawningProcess: false))
        return (Self.end(result.terminationStatus), result.standardOutput)
      } ?? (.timedOut, "")
    } catch let error as SubprocessError where error.code == .outputLimitExceeded {
      return (.printedTooMuch(limit: limit), "")
    } catch {
      return (.notStarted("\(error)"), "")
    }
  }

  private func executable(_ program: String) -> Executable {
    program.containsSlash ? .path(FilePath(program)) : .name(program)
  }

  /// Starts a new session, so that the program's own children can be terminated with it.
  private static var options: PlatformOptions {
    var options = PlatformOptions()
    options.createSession = true
    options.teardownSequence = [
      .gracefulShutDown(toProcessGroup: true, allowedDurationToNextStep: terminationGracePeriod)
    ]
    return options
  }

  private static func environment(_ added: [String: String]) -> Environment {
    let variables = ChildEnvironment.current.merging(added) { $1 }
    return .custom(
      variables.reduce(into: [:]) { environment, variable in
        if let key = Environment.Key(rawValue: variable.key) { environment[key] = variable.value }
      })
  }

  private static func end(_ status: TerminationStatus) -> End {
    switch status {
    case .exited(let code): .exited(code)
    case .signaled(let signal): .signaled(signal)
    }
  }

  /// Runs work with a timeout; `nil` if it timed out. The work has ended in both cases.
  private func withTimeout<Value: Sendable>(
    _ timeout: Duration, _ work: @escaping @Sendable () async throws -> Value
  ) async throws -> Value? {
    try await withThrowingTaskGroup(of: Value?.self) { group in
      group.addTask {
        do { return try await work() } catch  where Task.isCancelled { return nil }
      }
      group.addTask {
        try? await Task.pause(for: timeout)
        return nil
      }
      let first = try await group.next() ?? nil
      group.cancelAll()
      // Cancellation terminates the program; wait for its end.
      while let _ = try await group.next() {}
      return first
    }
  }
}

extension Command.End: CustomStringConvertible {
  var description: String {
    switch self {
    case .exited(let code): "exit \(code)"
    case .signaled(let signal): "ended by signal \(signal)"
    case .timedOut: "timed out"
    case .printedTooMuch(let limit): "it printed more than \(limit) bytes"
    case .notStarted(let reason): "could not be started: \(reason)"
    }
  }
}

/// A text as an anonymous file in memory (memfd_create(2)).
private final class MemoryFile: Sendable {
  let descriptor: FileDescriptor

  struct Failed: Error, CustomStringConvertible {
    let description: String
  }

  init(_ text: String) throws {
    let number = linux_memory_file("transferd-hook")
    guard number >= 0 else { throw Failed(description: String(cString: strerror(errno))) }
    descriptor = FileDescriptor(rawValue: number)
    _ = try descriptor.writeAll(Array(text.utf8))
    _ = try descriptor.seek(offset: 0, from: .start)
  }

  deinit { try? descriptor.close() }
}
