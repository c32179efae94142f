// With some compiler flags curl.h's copies of Glibc's declarations are the visible ones (`sigset_t`).
import CCurl
import CLinux
import FoundationEssentials
import Glibc

/// A command that prints credentials (`credential_process`,
/// docs.aws.amazon.com/sdkref/latest/guide/feature-process-credentials.html). It runs without a shell, in the
/// environment of ``ChildEnvironment``: AWS documents no variables for such a command.
enum CredentialProcess {
  private struct Answer: Decodable {
    var Version: Int
    var AccessKeyId: String
    var SecretAccessKey: String
    var SessionToken: String?
    var Expiration: String?
  }

  private static let outputLimit = 64 << 10

  /// Blocks until the command has ended: call it in `BlockingIO`.
  /// - Throws: `.upload(.credentials)`; errors do not contain the command's output.
  static func run(_ command: [String], timeout: Duration = .seconds(60)) throws(TransferError) -> AWSCredentials {
    guard let program = command.first else { throw .upload(.credentials("the command is empty")) }
    let output = try collect(command, timeout)
    guard let answer = try? JSONDecoder().decode(Answer.self, from: output), answer.Version == 1 else {
      throw .upload(.credentials("\(program) printed no credentials of version 1"))
    }
    return AWSCredentials(
      accessKeyID: answer.AccessKeyId, secretAccessKey: answer.SecretAccessKey, sessionToken: answer.SessionToken,
      expiration: answer.Expiration.flatMap { try? Date($0, strategy: .iso8601) })
  }

  private static func collect(_ command: [String], _ timeout: Duration) throws(TransferError) -> Data {
    var ends: [Int32] = [-1, -1]
    // A pair of sockets: Glibc's module does not export pipe2, and a descriptor without O_CLOEXEC could leak into other
    // processes.
    guard linux_socket_pair(&ends) == 0 else { throw failure(command, String(cString: strerror(errno))) }
    let pid: pid_t
    do throws(TransferError) {
      pid = try spawn(command, output: ends[1])
    } catch {
      close(ends[0])
      close(ends[1])
      throw error
    }
    close(ends[1])
    defer { close(ends[0]) }
    let output = read(ends[0], until: .now + timeout)
    if output == nil { kill(pid, SIGKILL) }
    var status: Int32 = 0
    while waitpid(pid, &status, 0) < 0, errno == EINTR {}
    guard let output else { throw failure(command, "it did not end in time, or printed too much") }
    guard status == 0 else { throw failure(command, "it failed") }
    return output
  }

  private static func spawn(_ command: [String], output: Int32) throws(TransferError) -> pid_t {
    var actions = posix_spawn_file_actions_t()
    posix_spawn_file_actions_init(&actions)
    defer { posix_spawn_file_actions_destroy(&actions) }
    posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0)
    posix_spawn_file_actions_adddup2(&actions, output, 1)
    // The command does not inherit the signals that this process blocks or ignores.
    var attributes = posix_spawnattr_t()
    posix_spawnattr_init(&attributes)
    defer { posix_spawnattr_destroy(&attributes) }
    var none = sigset_t()
    var all = sigset_t()
    sigemptyset(&none)
    sigfillset(&all)
    posix_spawnattr_setsigmask(&attributes, &none)
    posix_spawnattr_setsigdefault(&attributes, &all)
    posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF))
    var arguments = command.map { strdup($0) } + [nil]
    defer { for argument in arguments { free(argument) } }
    var variables = ChildEnvironment.current.map { strdup("\($0)=\($1)") } + [nil]
    defer { for variable in variables { free(variable) } }
    var pid: pid_t = 0
    let code = posix_spawnp(&pid, command[0], &actions, &attributes, &arguments, &variables)
    guard code == 0 else { throw failure(command, String(cString: strerror(code))) }
    return pid
  }

  /// `nil` after the deadline, and for too much output.
  private static func read(_ descriptor: Int32, until deadline: ContinuousClock.Instant) -> Data? {
    var output = Data()
    var buffer = [UInt8](repeating: 0, count: 4096)
    while true {
      let left = ContinuousClock.now.duration(to: deadline).wholeMilliseconds
      guard left > 0, output.count <= outputLimit else { return nil }
      var wanted = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
      let ready = poll(&wanted, 1, Int32(clamping: left))
      if ready < 0, errno == EINTR { continue }
      guard ready > 0 else { return nil }
      let count = Glibc.read(descriptor, &buffer, buffer.count)
      if count < 0, errno == EINTR { continue }
      guard count > 0 else { return count == 0 ? output : nil }
      output.append(contentsOf: buffer[..<count])
    }
  }

  private static func failure(_ command: [String], _ reason: String) -> TransferError {
    .upload(.credentials("cannot run \(command[0]): \(reason)"))
  }
}
