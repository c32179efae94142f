import Foundation
import Glibc

/// OpenSSH's sshd on 127.0.0.1 with its own keys: SFTP and SCP for the user that runs the test.
///
/// ```swift
/// let server = try await SSHServer()
/// … server.url("sftp", server.root + "/a.iso"), server.privateKey, server.knownHosts …
/// ```
public final class SSHServer: Sendable {
  public struct Options: Sendable {
    /// Types of host keys, as `ssh-keygen -t` names them.
    public var hostKeys = ["ed25519"]
    /// Additional lines for sshd_config.
    public var directives = ""
    /// The port of an earlier server to listen on; `nil` is a free port.
    public var port: UInt16?

    public init(hostKeys: [String] = ["ed25519"], directives: String = "", port: UInt16? = nil) {
      self.hostKeys = hostKeys
      self.directives = directives
      self.port = port
    }
  }

  public let port: UInt16
  /// The directory for served files.
  public let root: String
  /// The user's private key, which the server accepts.
  public let privateKey: String
  /// A private key that the server does not accept.
  public let strangersKey: String
  /// A known-hosts file that names this server.
  public let knownHosts: String
  private let directory: TemporaryDirectory
  private let process: ChildProcess

  public init(_ options: Options = Options()) async throws {
    let program = try BuiltPrograms.system("sshd")
    directory = try TemporaryDirectory()
    root = try directory.directory("files")
    privateKey = directory.path("user")
    strangersKey = directory.path("stranger")
    knownHosts = directory.path("known_hosts")
    for name in ["user", "stranger"] { try await Self.makeKey("ed25519", directory.path(name)) }
    for type in options.hostKeys { try await Self.makeKey(type, directory.path("host_" + type)) }
    // sshd's chroot directory before a login (sshd(8)); Debian's service creates it at each start.
    if geteuid() == 0 { mkdir("/run/sshd", 0o755) }
    var lastError: any Error = TestSupportError.missingProgram("sshd", searched: [])
    for _ in 0..<5 {
      let port = try options.port ?? freePort()
      try directory.file("sshd_config", text: options.configuration(in: directory, port))
      let process = try ChildProcess(Launch(program, ["-D", "-e", "-f", directory.path("sshd_config")]))
      do {
        try await process.waitForErrors("Server listening on 127.0.0.1 port \(port)", timeout: .seconds(60))
      } catch {
        lastError =
          process.isRunning
          ? error : TestSupportError.failed(program: "sshd", reason: try await process.result().stderr)
        continue
      }
      self.port = port
      self.process = process
      let keys = try options.hostKeys.map { try Self.publicKey(directory.path("host_" + $0)) }
      try directory.file("known_hosts", text: keys.map { "[127.0.0.1]:\(port) \($0)\n" }.joined())
      return
    }
    throw lastError
  }

  deinit { process.signalGroup(SIGKILL) }

  /// `sftp://user@127.0.0.1:port/path`, through another port if one is given.
  public func url(_ scheme: String, _ path: String, port: UInt16? = nil) -> String {
    "\(scheme)://\(NSUserName())@127.0.0.1:\(port ?? self.port)\(path)"
  }

  /// The public key of a type of host key: `ssh-ed25519 AAAA…`.
  public func hostKey(_ type: String = "ed25519") throws -> String {
    try Self.publicKey(directory.path("host_" + type))
  }

  /// The fingerprint of a host key as ssh-keygen prints it: `SHA256:…`.
  public func fingerprint(_ type: String = "ed25519") async throws -> String {
    let result = try await Launch(
      BuiltPrograms.system("ssh-keygen"), ["-l", "-f", directory.path("host_\(type).pub")]
    ).runSuccessfully()
    return result.stdout.split(separator: " ").dropFirst().first.map(String.init) ?? ""
  }

  /// The log of sshd so far.
  public var log: String { process.errorsSoFar }

  /// Writes another known-hosts file with these lines.
  public func knownHosts(_ text: String, named name: String) throws -> String {
    try directory.file(name, text: text)
  }

  public func stop() async throws {
    process.signalGroup(SIGTERM)
    _ = try await process.result()
  }

  private static func makeKey(_ type: String, _ path: String) async throws {
    try await Launch(BuiltPrograms.system("ssh-keygen"), ["-q", "-t", type, "-N", "", "-f", path]).runSuccessfully()
  }

  private static func publicKey(_ path: String) throws -> String {
    try String(contentsOfFile: path + ".pub", encoding: .utf8).split(separator: " ").prefix(2).joined(separator: " ")
  }
}

extension SSHServer.Options {
  fileprivate func configuration(in directory: TemporaryDirectory, _ port: UInt16) -> String {
    """
    Port \(port)
    ListenAddress 127.0.0.1
    \(hostKeys.map { "HostKey \(directory.path("host_" + $0))" }.joined(separator: "\n"))
    AuthorizedKeysFile \(directory.path("user.pub"))
    StrictModes no
    PermitRootLogin yes
    PasswordAuthentication yes
    KbdInteractiveAuthentication no
    UsePAM no
    PidFile none
    MaxStartups 200
    Subsystem sftp internal-sftp
    \(directives)

    """
  }
}
