import CLinux
import Digests
import FoundationEssentials
import Glibc
import HTTPTypes
import Logging
import Store
import TransferAPI
import TransferEngine
import WireValues

/// What the process finds when it starts: its environment, its directories, its descriptors and its configuration.
struct ProcessSetup: Sendable {
  let flags: DaemonConfiguration.Flags
  let environment: [String: String]
  /// The state directory, absolute.
  let state: String
  /// The path of the control socket, absolute.
  let socket: String
  let descriptors: DescriptorBudget
  let configuration: DaemonConfiguration
  let logger: Logger

  /// Also prepares the process: signals, core dumps, the limit of descriptors, the environment of child processes.
  /// - Parameters:
  ///   - socket: as the command line names it; `nil`: the usual one.
  ///   - stateDirectory: as the command line names it; `nil`: the usual one.
  init(flags: DaemonConfiguration.Flags, socket: String?, stateDirectory: String?) throws {
    let environment = ProcessInfo.processInfo.environment
    let locations = try Locations(
      socket: socket, stateDirectory: stateDirectory, environment: environment, uid: getuid(),
      home: Self.homeDirectory(),
      directoryExists: { path in
        var status = stat()
        return stat(path, &status) == 0 && status.st_mode & S_IFMT == S_IFDIR
      })
    // Now, and not at the first digest, where it would stop the program. With libcurl on OpenSSL it is loaded already.
    if let problem = CryptoLibrary.problem {
      throw DaemonConfiguration.Invalid(description: "cannot load libcrypto, which computes digests: \(problem)")
    }
    self.flags = flags
    self.environment = environment
    state = Self.absolute(locations.stateDirectory)
    self.socket = Self.absolute(locations.socket)
    signal(SIGPIPE, SIG_IGN)
    signal(SIGXFSZ, SIG_IGN)
    linux_forbid_dumps()
    descriptors = DescriptorBudget.raised()
    TransferDefaults.adoptPermissions()
    configuration = try DaemonConfiguration.load(flags, environment: environment)
    ChildEnvironment.pass(configuration.passEnvironment)
    var logger = Logger(label: "transferd") { _ in
      StandardErrorLog(isJournal: environment["JOURNAL_STREAM"] != nil)
    }
    logger.logLevel = configuration.logLevel
    self.logger = logger
  }

  /// The limits that the descriptors allow. A shortage is logged.
  func bounded(_ limits: Scheduler.Limits) -> Scheduler.Limits {
    if let shortage = descriptors.shortage(for: limits) { logger.warning("\(shortage)") }
    return descriptors.bounding(limits)
  }

  /// - Throws: if there is no group of the configured name.
  func access() throws -> PeerAccess {
    guard let name = configuration.socketGroup else { return PeerAccess(uid: geteuid(), group: nil) }
    guard let group = getgrnam(name) else {
      throw DaemonConfiguration.Invalid(description: "there is no group \"\(name)\" (socketGroup)")
    }
    return PeerAccess(uid: geteuid(), group: group.pointee.gr_gid)
  }

  /// The rules for paths: they protect transferd's own directories, and the files that it and its configuration name.
  func pathPolicy() -> PathPolicy {
    PathPolicy(
      daemon: geteuid(), state: state, socket: socket,
      runtimeDirectory: PathPolicy.runtimeDirectory(of: socket, environment: environment, uid: getuid()),
      homes: [environment["HOME"], Self.homeDirectory()].compactMap { $0 }.filter { $0.isAbsolutePath },
      files: namedFiles(configuration), roots: configuration.memberRoots)
  }

  /// The files that a configuration and the environment name: keys, programs and what these are given.
  func namedFiles(_ configuration: DaemonConfiguration) -> [String] {
    let (ssh, hooks) = (configuration.remote.ssh, configuration.limits.hooks)
    var files = ["NETRC", "AWS_CONFIG_FILE", "AWS_SHARED_CREDENTIALS_FILE"].map { environment[$0] }
    files += [flags.configurationFile, configuration.certificateAuthorityFile, ssh.privateKeyFile]
    var commands = [hooks.onComplete, hooks.onFailure, hooks.onBatchEnd].compactMap { $0?.arguments }
    for secret in [configuration.proxy.credentials] + hooks.webhooks.map(\.secret) {
      switch secret {
      case .file(let path)?: files.append(path)
      case .command(let text)?: commands.append((try? ShellWords.split(text)) ?? [])
      case .netrc?, .environment?, nil: break
      }
    }
    let programs = commands.flatMap { $0.prefix(1) + $0.dropFirst().filter(\.isAbsolutePath) }
    return (files.compactMap { $0 } + (ssh.knownHostsFiles ?? []) + programs).map(Self.absolute)
  }

  /// The settings of the engine, with the SSH files that an earlier release left in another home directory. Their use is
  /// logged once.
  func session(_ store: Store) async throws -> Session {
    var session = SessionConfiguration()
    session.defaultHeaders[.userAgent] = "transferd/\(Version.current)"
    session.certificateAuthorityFile = configuration.certificateAuthorityFile
    session.ssh = try await ssh(store)
    session.ftpSecurity = configuration.remote.ftpSecurity
    session.maximumIdleConnections = descriptors.idleConnections
    return Session(configuration: session)
  }

  private func ssh(_ store: Store) async throws -> SSHConfiguration {
    var ssh = configuration.remote.ssh
    let userHome = Self.homeDirectory()
    guard let home = environment["HOME"] ?? userHome else { return ssh }
    let former = FormerHome(home: home, state: state, userHome: userHome, environment: environment)
    let used = former.adopt(into: &ssh)
    guard !used.isEmpty, try await store.note("former-home", used.joined(separator: ":")) else { return ssh }
    logger.notice(
      "using SSH files in the former home directory; move them to the present one",
      metadata: ["files": "\(used.joined(separator: " "))", "home": "\(home)"])
    return ssh
  }

  /// The home directory in the user database; `nil` if the user has none.
  static func homeDirectory() -> String? {
    guard let entry = getpwuid(getuid()), let directory = entry.pointee.pw_dir else { return nil }
    return String(cString: directory)
  }

  private static func absolute(_ path: String) -> String {
    if path.isAbsolutePath { return path }
    guard let buffer = getcwd(nil, 0) else { return path }
    defer { free(buffer) }
    return String(cString: buffer) + "/" + path
  }
}
