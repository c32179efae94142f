import Foundation
import Glibc

/// A program with its arguments, environment and streams, ready to be started.
public struct Launch: Sendable {
  /// The destination of an output stream.
  public enum Stream: Sendable, Equatable {
    /// The result.
    case captured
    /// A file or a device, such as `/dev/full`.
    case file(String)
    /// A pseudo-terminal of 80 columns; its output is also in the result.
    case terminal
    /// A closed descriptor.
    case closed
  }

  public var program: String
  public var arguments: [String]
  /// The whole environment of the child.
  public var environment: [String: String]
  /// The child's working directory; the test's own when `nil`.
  public var directory: String?
  /// The bytes of standard input, which then ends. Empty: `/dev/null`.
  public var input: Data
  public var output: Stream
  public var errors: Stream

  public init(
    _ program: String, _ arguments: [String] = [], environment: [String: String] = Launch.cleanEnvironment,
    directory: String? = nil, input: Data = Data(), output: Stream = .captured, errors: Stream = .captured
  ) {
    self.program = program
    self.arguments = arguments
    self.environment = environment
    self.directory = directory
    self.input = input
    self.output = output
    self.errors = errors
  }

  /// The variables that cron sets, an unused HOME, and those that coverage and the sanitizers need in the child.
  public static var cleanEnvironment: [String: String] {
    let own = ProcessInfo.processInfo.environment
    let passed = own.filter { name, _ in
      ["LLVM_PROFILE_FILE", "TSAN_OPTIONS", "ASAN_OPTIONS", "SWIFT_BACKTRACE", "LD_LIBRARY_PATH"].contains(
        name)
    }
    return passed.merging(
      ["PATH": "/usr/local/bin:/usr/bin:/bin", "HOME": "/nonexistent", "LC_ALL": "C.UTF-8", "TZ": "UTC"]
    ) { own, _ in own }
  }

  /// The program's own name, for messages.
  public var name: String { URL(fileURLWithPath: program).lastPathComponent }

  /// Starts the program and waits for its end.
  public func run(timeout: Duration = .seconds(120)) async throws -> ChildProcess.Result {
    try await ChildProcess(self).result(timeout: timeout)
  }

  /// Starts the program and waits for its end; throws with its output if the exit code is not 0.
  @discardableResult
  public func runSuccessfully(timeout: Duration = .seconds(120)) async throws -> ChildProcess.Result {
    let result = try await run(timeout: timeout)
    guard result.status == 0 else {
      throw TestSupportError.failed(program: name, reason: "\(result.ending): \(result.stderr)")
    }
    return result
  }

  /// A child just started, with the parent's ends of its streams.
  struct Started {
    let pid: pid_t
    let input: Int32?
    let output: Int32?
    let errors: Int32?
  }

  func start() throws -> Started {
    var spawn = try Spawn()
    defer { spawn.end() }
    let input = try spawn.input(hasData: !self.input.isEmpty)
    let output = try spawn.stream(self.output, as: STDOUT_FILENO)
    let errors = try spawn.stream(self.errors, as: STDERR_FILENO)
    if let directory { _ = GNU.addChangeDirectory(&spawn.actions, directory) }
    _ = GNU.addCloseFrom(&spawn.actions, 3)
    do {
      return Started(pid: try spawn.run(self), input: input, output: output, errors: errors)
    } catch {
      for descriptor in [input, output, errors] { if let descriptor { close(descriptor) } }
      throw error
    }
  }
}

/// The C structures of one posix_spawn(3), and the child's ends of its streams until it has them.
private struct Spawn {
  var actions = posix_spawn_file_actions_t()
  private var attributes = posix_spawnattr_t()
  private var childEnds: [Int32] = []

  init() throws {
    posix_spawn_file_actions_init(&actions)
    posix_spawnattr_init(&attributes)
    // A test runner may ignore or block signals; the child gets the defaults of a shell.
    var signals = sigset_t()
    sigfillset(&signals)
    posix_spawnattr_setsigdefault(&attributes, &signals)
    sigemptyset(&signals)
    posix_spawnattr_setsigmask(&attributes, &signals)
    posix_spawnattr_setpgroup(&attributes, 0)
    let flags = POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK
    posix_spawnattr_setflags(&attributes, Int16(flags))
  }

  mutating func end() {
    posix_spawn_file_actions_destroy(&actions)
    posix_spawnattr_destroy(&attributes)
    for descriptor in childEnds { close(descriptor) }
  }

  mutating func input(hasData: Bool) throws -> Int32? {
    guard hasData else {
      posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0)
      return nil
    }
    let pipe = try makePipe()
    give(pipe.reading, as: STDIN_FILENO)
    return pipe.writing
  }

  mutating func stream(_ stream: Launch.Stream, as number: Int32) throws -> Int32? {
    switch stream {
    case .captured:
      let pipe = try makePipe()
      give(pipe.writing, as: number)
      return pipe.reading
    case .terminal:
      var (master, slave): (Int32, Int32) = (-1, -1)
      var size = winsize(ws_row: 24, ws_col: 80, ws_xpixel: 0, ws_ypixel: 0)
      try checked("open a terminal", GNU.openTerminal(&master, &slave, nil, nil, &size))
      give(slave, as: number)
      return master
    case .file(let path):
      posix_spawn_file_actions_addopen(&actions, number, path, O_WRONLY | O_CREAT | O_APPEND, 0o600)
      return nil
    case .closed:
      posix_spawn_file_actions_addclose(&actions, number)
      return nil
    }
  }

  private mutating func give(_ descriptor: Int32, as number: Int32) {
    posix_spawn_file_actions_adddup2(&actions, descriptor, number)
    childEnds.append(descriptor)
  }

  mutating func run(_ launch: Launch) throws -> pid_t {
    var arguments = ([launch.program] + launch.arguments).map { strdup($0) } + [nil]
    var environment = launch.environment.map { strdup("\($0.key)=\($0.value)") } + [nil]
    defer { for text in arguments + environment { free(text) } }
    var pid: pid_t = 0
    let failure = posix_spawn(&pid, launch.program, &actions, &attributes, &arguments, &environment)
    guard failure == 0 else { throw TestSupportError.system(call: "start \(launch.program)", code: failure) }
    return pid
  }
}
