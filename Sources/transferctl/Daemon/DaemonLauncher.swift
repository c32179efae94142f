import FoundationEssentials
import Glibc
import TransferAPI
import WireValues

/// Starts the user's daemon in a session of its own and waits until it is ready.
struct DaemonLauncher: Sendable {
  let locations: Locations
  var patience: Duration = .seconds(30)
  /// How long another daemon may take to respond after the daemon that was started here has ended, because the latter
  /// may have lost the race for the lock.
  var grace: Duration = .seconds(1)

  /// - Parameter isReady: whether a daemon responds on the socket.
  /// - Throws: `CommandFailure`, with the last line of the log when the daemon ended at once.
  func launch(isReady: () async throws -> Bool) async throws {
    let program = try Self.program()
    let log = locations.stateDirectory + "/transferd.log"
    try Self.makeDirectory(locations.stateDirectory)
    try Self.makeDirectory(locations.socket.parentPath)
    // Only one of several simultaneous programs starts a daemon; the others wait for its socket. The lock needs a descriptor of
    // its own: the daemon inherits the one for its standard error and would hold the lock for its whole life.
    let turn = try Self.open(log)
    defer { close(turn) }

    let clock = ContinuousClock()
    var deadline = clock.now + patience
    var migration = StartStatus(stateDirectory: locations.stateDirectory)
    while clock.now < deadline {
      if migration.isBusy() { deadline = clock.now + patience }
      if flock(turn, LOCK_EX | LOCK_NB) == 0 {
        if try await isReady() { return }
        return try await start(program, log: log, deadline: deadline, isReady: isReady)
      }
      if try await isReady() { return }
      try await Task.sleep(for: .milliseconds(20))
    }
    throw CommandFailure(
      .unreachable, "another program is starting transferd, but it does not become ready; see \(log)")
  }

  private func start(
    _ program: String, log: String, deadline: ContinuousClock.Instant, isReady: () async throws -> Bool
  ) async throws {
    let output = try Self.open(log)
    defer { close(output) }
    let logStart = lseek(output, 0, SEEK_END)
    let process = try Self.spawn(
      program,
      arguments: [
        program, "--state-dir", locations.stateDirectory, "--socket", locations.socket,
      ],
      standardError: output)

    let clock = ContinuousClock()
    var end = deadline
    var status: Int32 = 0
    var hasEnded = false
    var migration = StartStatus(stateDirectory: locations.stateDirectory)
    while clock.now < end {
      if try await isReady() { return }
      // The daemon that was started here, or the one that holds the lock.
      if migration.isBusy() { end = clock.now + patience }
      if !hasEnded, waitpid(process, &status, WNOHANG) == process {
        hasEnded = true
        end = min(end, clock.now + grace)
      }
      try await Task.sleep(for: .milliseconds(20))
    }
    guard hasEnded else {
      throw CommandFailure(.unreachable, "started transferd, but it does not become ready; see \(log)")
    }
    let reason = Self.lastLine(of: log, from: logStart) ?? "no reason was logged"
    throw CommandFailure(
      .unreachable, "cannot start transferd: \(reason) (\(Self.ending(status)); see \(log))")
  }

  /// `transferd` in the directory of this program, else on PATH.
  static func program() throws -> String {
    var buffer = [CChar](repeating: 0, count: 4096)
    let length = readlink("/proc/self/exe", &buffer, buffer.count - 1)
    var candidates: [String] = []
    if length > 0 {
      let own = String(decoding: buffer[..<length].map { UInt8(bitPattern: $0) }, as: UTF8.self)
      candidates.append(own.parentPath.appendingName("transferd"))
    }
    // Without PATH, execvp(3) searches these directories.
    let path = ProcessInfo.processInfo.environment["PATH"] ?? "/usr/local/bin:/bin:/usr/bin"
    for directory in path.split(separator: ":") where directory.isAbsolutePath {
      candidates.append(directory + "/transferd")
    }
    guard let found = candidates.first(where: { access($0, X_OK) == 0 }) else {
      throw CommandFailure(
        .unreachable, "cannot start transferd: it is neither beside this program nor on PATH")
    }
    return found
  }

  /// The daemon gets a new session without a terminal, `/` as its working directory, and the descriptors 0, 1 and 2 only.
  private static func spawn(
    _ program: String, arguments: [String], standardError: Int32
  ) throws -> pid_t {
    closeAllOnExec()
    var actions = posix_spawn_file_actions_t()
    posix_spawn_file_actions_init(&actions)
    defer { posix_spawn_file_actions_destroy(&actions) }
    posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0)
    posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, "/dev/null", O_WRONLY, 0)
    posix_spawn_file_actions_adddup2(&actions, standardError, STDERR_FILENO)

    var attributes = posix_spawnattr_t()
    posix_spawnattr_init(&attributes)
    defer { posix_spawnattr_destroy(&attributes) }
    var signals = sigset_t()
    sigemptyset(&signals)
    posix_spawnattr_setsigmask(&attributes, &signals)
    for number in [SIGINT, SIGPIPE, SIGHUP, SIGQUIT, SIGTERM, SIGCHLD] { sigaddset(&signals, number) }
    posix_spawnattr_setsigdefault(&attributes, &signals)
    let newSession: Int32 = 0x80  // POSIX_SPAWN_SETSID: spawn.h shows it only with _GNU_SOURCE
    posix_spawnattr_setflags(
      &attributes, Int16(newSession | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF))

    var argv: [UnsafeMutablePointer<CChar>?] = arguments.map { strdup($0) } + [nil]
    defer { argv.forEach { free($0) } }
    // The child inherits the working directory; change it while the child is created.
    let here = Glibc.open(".", O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    chdir("/")
    defer {
      if here >= 0 {
        fchdir(here)
        close(here)
      }
    }
    // A daemon started by a systemd service outlives that service. It must not report its own readiness as the service's.
    var variables: [UnsafeMutablePointer<CChar>?] =
      ProcessInfo.processInfo.environment.filter { !ServiceVariables.contains($0.key) }
      .map { strdup("\($0)=\($1)") } + [nil]
    defer { variables.forEach { free($0) } }
    var process: pid_t = 0
    let code = posix_spawn(&process, program, &actions, &attributes, &argv, &variables)
    guard code == 0 else {
      throw CommandFailure(.unreachable, "cannot start \(program): \(String(cString: strerror(code)))")
    }
    return process
  }

  /// Keeps descriptors that this program inherited out of the daemon.
  private static func closeAllOnExec() {
    guard let directory = opendir("/proc/self/fd") else { return }
    defer { closedir(directory) }
    while let entry = readdir(directory) {
      let name = withUnsafePointer(to: &entry.pointee.d_name) {
        $0.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
      }
      if let descriptor = Int32(name), descriptor > STDERR_FILENO {
        _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
      }
    }
  }

  private static func open(_ log: String) throws -> Int32 {
    let descriptor = Glibc.open(log, O_RDWR | O_APPEND | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0o600)
    guard descriptor >= 0 else { throw failure("cannot open \(log)") }
    return descriptor
  }

  /// Creates the directory and its parents with mode 0700. Existing ones keep their mode.
  static func makeDirectory(_ path: String) throws {
    if mkdir(path, 0o700) == 0 || errno == EEXIST { return }
    if errno == ENOENT, path.parentPath != path {
      try makeDirectory(path.parentPath)
      if mkdir(path, 0o700) == 0 || errno == EEXIST { return }
    }
    throw failure("cannot create the directory \(path)")
  }

  private static func failure(_ words: String) -> CommandFailure {
    let code = errno
    return CommandFailure(
      code == EACCES || code == EPERM ? .permission : .unreachable,
      "\(words): \(String(cString: strerror(code)))")
  }

  /// The last line that is not blank in the log after `offset`.
  static func lastLine(of log: String, from offset: off_t) -> String? {
    guard let descriptor = try? open(log) else { return nil }
    defer { close(descriptor) }
    var bytes = [UInt8](repeating: 0, count: 4096)
    let end = lseek(descriptor, 0, SEEK_END)
    // The log is shorter than before: the daemon has started a new one.
    let start = end < offset ? 0 : offset
    // checked: the length of a file
    let count = pread(descriptor, &bytes, bytes.count, max(start, end - off_t(bytes.count)))
    guard count > 0 else { return nil }
    return bytes[..<count].split(separator: UInt8(ascii: "\n"))
      .last { $0.contains { $0 > 0x20 } }
      .map { String(decoding: $0, as: UTF8.self) }
  }

  private static func ending(_ status: Int32) -> String {
    let signal = status & 0x7f
    return signal == 0 ? "exit status \(status >> 8 & 0xff)" : "ended by signal \(signal)"
  }
}
