import CLinux
import Glibc
import Subprocess
import SystemPackage
import Threads
import TransferEngine

/// A program with its arguments: never a shell's line. It gets no descriptor of the daemon but the three standard ones, and the
/// environment of `ChildEnvironment`.
struct Command: Equatable, Sendable {
  var arguments: [String]

  enum End: Equatable, Sendable {
    case exited(Int32)
    case signaled(Int32)
    /// It was ended because its time was up.
    case timedOut
    /// There is no such program, or it could not be started.
    case notStarted(String)
  }

  /// Between the polite and the other signal.
  private static let grace = Duration.seconds(2)

  /// Runs it with a text on standard input; what it writes goes to the daemon's log.
  func run(input: String, environment: [String: String], timeout: Duration) async -> End {
    guard let program = arguments.first else { return .notStarted("no program is named") }
    let log = FileDescriptor(rawValue: STDERR_FILENO)
    do {
      // A file in memory: a program that does not read its input cannot hold anybody up.
      let text = try MemoryFile(input)
      return try await limited(timeout) {
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

  /// Runs it without input, and takes what it prints.
  func output(limit: Int, timeout: Duration) async -> (end: End, text: String) {
    guard let program = arguments.first else { return (.notStarted("no program is named"), "") }
    do {
      return try await limited(timeout) {
        let result = try await Subprocess.run(
          executable(program), arguments: Arguments(Array(arguments.dropFirst())),
          environment: Self.environment([:]), platformOptions: Self.options, input: .none,
          output: .string(limit: limit),
          error: .fileDescriptor(FileDescriptor(rawValue: STDERR_FILENO), closeAfterSpawningProcess: false))
        return (Self.end(result.terminationStatus), result.standardOutput)
      } ?? (.timedOut, "")
    } catch {
      return (.notStarted("\(error)"), "")
    }
  }

  private func executable(_ program: String) -> Executable {
    program.contains("/") ? .path(FilePath(program)) : .name(program)
  }

  /// A session of its own, so that what it starts ends with it.
  private static var options: PlatformOptions {
    var options = PlatformOptions()
    options.createSession = true
    options.teardownSequence = [.gracefulShutDown(toProcessGroup: true, allowedDurationToNextStep: grace)]
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

  /// `nil` where the time was up; what ran has ended by then.
  private func limited<Value: Sendable>(
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
      // Cancelling ends the program; it is waited for.
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
    case .timedOut: "ended because its time was up"
    case .notStarted(let reason): "could not be started: \(reason)"
    }
  }
}

/// A text behind a descriptor, in no file system. memfd_create(2)
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
