import CLinux
import FoundationEssentials
import Glibc
import Logging
import Store
import TransferAPI
import TransferEngine

/// The daemon from start to end: lock → store → recovery → socket → ready → jobs, until a signal.
struct DaemonProcess: Sendable {
  let flags: DaemonConfiguration.Flags
  let socket: String?
  let stateDirectory: String?
  /// SIGTERM and SIGINT end it, SIGHUP has the configuration read again.
  let signals: SignalSequence

  /// A clean stop is over by then, whatever the disks do.
  static let stopLimit = 4.5

  func run() async throws {
    let environment = ProcessInfo.processInfo.environment
    let locations = try Locations(
      socket: socket, stateDirectory: stateDirectory, environment: environment, uid: getuid(), home: homeDirectory(),
      directoryExists: { path in
        var status = stat()
        return stat(path, &status) == 0 && status.st_mode & S_IFMT == S_IFDIR
      })
    let state = absolute(locations.stateDirectory)
    let socketPath = absolute(locations.socket)
    signal(SIGPIPE, SIG_IGN)
    signal(SIGXFSZ, SIG_IGN)
    linux_forbid_dumps()
    let descriptors = DescriptorBudget.raised()
    TransferDefaults.adoptPermissions()
    let configuration = try await DaemonConfiguration.load(flags, environment: environment)
    ChildEnvironment.pass(configuration.passEnvironment)
    let logger = Self.logger(configuration.logLevel, environment)
    let limits = Self.bounded(configuration.limits, by: descriptors, logger)

    try StateDirectory.prepare(state, mustBePrivate: true)
    let lock = try SingleInstance(directory: state)
    let crashes = Self.crashMarks(in: state, logger)
    LogFile.current.withLock { $0 = LogFile(path: state + "/transferd.log") }
    let hub = EventHub()
    let store = try Store(directory: state, now: Date(), onEvents: { hub.publish($0) })
    let paths = pathPolicy(state, socketPath, configuration, environment)
    if let reason = store.rewriteFailure {
      logger.warning(
        "secrets of removed jobs may still stand in the database's unused space: it could not be written anew",
        metadata: ["reason": "\(reason)"])
    }
    try await Recovery.perform(
      in: store, paths: paths, mark: crashes?.previous, hooks: configuration.limits.hooks, logger: logger, now: Date())
    // The rows are durable. A mark that stays is not counted again: the store knows its run.
    do { try crashes?.clear() } catch { logger.warning("cannot clear a crash mark", metadata: ["error": "\(error)"]) }

    var sessionConfiguration = SessionConfiguration()
    sessionConfiguration.defaultHeaders[.userAgent] = "transferd/\(Version.current)"
    sessionConfiguration.certificateAuthorityFile = configuration.certificateAuthorityFile
    sessionConfiguration.ssh = try await ssh(configuration, state, environment, store, logger)
    sessionConfiguration.ftpSecurity = configuration.remote.ftpSecurity
    sessionConfiguration.maximumIdleConnections = descriptors.idleConnections
    let session = Session(configuration: sessionConfiguration)
    let network = NetworkRules(redirects: configuration.redirects)
    let runner = JobRunner(
      session: session, store: store, secrets: SecretResolver(environment: environment, home: homeDirectory()),
      stateDirectory: state, network: network, paths: paths)
    let aftermath = AftermathRunner(store: store, runner: runner, hooks: configuration.limits.hooks, logger: logger)
    let scheduler = Scheduler(
      store: store, limits: limits,
      governor: OriginGovernor(stored: try await store.origins(), now: Date()), logger: logger, runner: runner,
      aftermath: aftermath)
    try await scheduler.readLines()
    try await scheduler.readCrashMarks()

    let signals = signals.listen()
    let (stops, stopping) = AsyncStream<String>.makeStream()
    let notifier = ServiceNotifier(environment: environment)
    let history = HistoryKeeper(store: store, hub: hub, days: configuration.historyDays, logger: logger)
    let flags = flags
    let reload: @Sendable () async throws -> Void = {
      let fresh = try await DaemonConfiguration.load(flags, environment: environment)
      network.setRedirects(fresh.redirects)
      await scheduler.setLimits(Self.bounded(fresh.limits, by: descriptors, logger))
      history.keep(days: fresh.historyDays)
      ChildEnvironment.pass(fresh.passEnvironment)
      paths.setRoots(fresh.memberRoots)
      await aftermath.setHooks(fresh.limits.hooks)
      logger.notice("configuration reloaded")
    }
    let daemon = DaemonFace(
      store: store, scheduler: scheduler, hub: hub, startedAt: Date(), stateDirectory: state, logger: logger,
      requestStop: { stopping.yield("the control API") }, reload: reload)
    let server = ControlServer(
      path: socketPath, daemon: daemon, access: try Self.access(configuration), maximumClients: descriptors.clients,
      logger: logger)

    let serving = Task {
      do {
        try await server.run {
          notifier.send("READY=1\nSTATUS=ready")
          logger.notice("transferd is ready", metadata: ["socket": "\(socketPath)", "pid": "\(getpid())"])
          // The first question is answered when this returns: nobody waits for the disk.
          Task {
            await scheduler.wake()
            await aftermath.start()
            await daemon.sweepSpools()
            await scheduler.rest()
          }
        }
      } catch is CancellationError {
      } catch {
        logger.critical("cannot serve the control socket", metadata: ["error": "\(error)"])
        StandardError.write("transferd: \(error)\n")
        exit(1)
      }
    }
    Task {
      for await signal in signals {
        if signal == SIGHUP {
          notifier.send("RELOADING=1")
          do { try await reload() } catch { logger.error("cannot reload", metadata: ["error": "\(error)"]) }
          notifier.send("READY=1")
        } else {
          stopping.yield(SignalSequence.name(signal))
        }
      }
    }
    let pruning = Task(priority: .background) { await history.run() }
    let status = Task { await ServiceStatus(notifier: notifier, session: session, store: store, hub: hub).run() }

    let watch = Task(priority: .background) { await NetworkWatch(scheduler: scheduler, logger: logger).run() }

    for await reason in stops {
      logger.notice("transferd is stopping", metadata: ["reason": "\(reason)"])
      break
    }
    notifier.send("STOPPING=1")
    Self.exitAnyhow(after: Self.stopLimit)
    unlink(socketPath)
    status.cancel()
    pruning.cancel()
    watch.cancel()
    await scheduler.shutdown()
    await store.close()
    withExtendedLifetime((lock, serving)) {}
    logger.notice("transferd has stopped")
    // The server is not wound down: who is connected sees the connection end, as after a kill, and nothing that was
    // answered is lost.
    _exit(0)
  }

  /// A disk that does not answer must not keep the service from ending: what is not checkpointed by now is fetched again.
  private static func exitAnyhow(after seconds: Double) {
    var thread = pthread_t()
    pthread_create(
      &thread, nil,
      { _ in
        usleep(UInt32(DaemonProcess.stopLimit * 1_000_000))
        _exit(0)
      }, nil)
  }

  /// From here on a crash leaves a mark. `nil` where it cannot: jobs matter more than marks.
  private static func crashMarks(in directory: String, _ logger: Logger) -> CrashMarkFile? {
    do {
      let file = try CrashMarkFile(directory: directory)
      try file.arm()
      return file
    } catch {
      logger.warning("crashes of the daemon will not be counted", metadata: ["error": "\(error)"])
      return nil
    }
  }

  private static func bounded(
    _ limits: Scheduler.Limits, by descriptors: DescriptorBudget, _ logger: Logger
  ) -> Scheduler.Limits {
    if let shortage = descriptors.shortage(for: limits) { logger.warning("\(shortage)") }
    return descriptors.bounding(limits)
  }

  private static func logger(_ level: Logger.Level, _ environment: [String: String]) -> Logger {
    var logger = Logger(label: "transferd") { _ in
      StandardErrorLog(isJournal: environment["JOURNAL_STREAM"] != nil)
    }
    logger.logLevel = level
    return logger
  }

  private static func access(_ configuration: DaemonConfiguration) throws -> PeerAccess {
    guard let name = configuration.socketGroup else { return PeerAccess(uid: geteuid(), group: nil) }
    guard let group = getgrnam(name) else {
      throw DaemonConfiguration.Invalid(description: "there is no group \"\(name)\" (socketGroup)")
    }
    return PeerAccess(uid: geteuid(), group: group.pointee.gr_gid)
  }

  /// What is transferd's own, and what it and its configuration name.
  private func pathPolicy(
    _ state: String, _ socket: String, _ configuration: DaemonConfiguration, _ environment: [String: String]
  ) -> PathPolicy {
    let ssh = configuration.remote.ssh
    let named = ["NETRC", "AWS_CONFIG_FILE", "AWS_SHARED_CREDENTIALS_FILE"].map { environment[$0] }
    let files = named + [flags.configurationFile, configuration.certificateAuthorityFile, ssh.privateKeyFile]
    let hooks = [configuration.limits.hooks.onComplete, configuration.limits.hooks.onFailure]
    return PathPolicy(
      daemon: geteuid(), state: state, socket: socket,
      runtimeDirectory: PathPolicy.runtimeDirectory(of: socket, environment: environment, uid: getuid()),
      homes: [environment["HOME"], homeDirectory()].compactMap { $0 }.filter { $0.hasPrefix("/") },
      files: (files.compactMap { $0 } + (ssh.knownHostsFiles ?? []) + hooks.compactMap { $0?.arguments.first })
        .map(absolute),
      roots: configuration.memberRoots)
  }

  /// With what an earlier release left in another home directory; that is logged once.
  private func ssh(
    _ configuration: DaemonConfiguration, _ state: String, _ environment: [String: String], _ store: Store,
    _ logger: Logger
  ) async throws -> SSHConfiguration {
    var ssh = configuration.remote.ssh
    guard let home = environment["HOME"] ?? homeDirectory() else { return ssh }
    let former = FormerHome(home: home, state: state, userHome: homeDirectory(), environment: environment)
    let used = former.adopt(into: &ssh)
    guard !used.isEmpty, try await store.note("former-home", used.joined(separator: ":")) else { return ssh }
    logger.notice(
      "using SSH files in the former home directory; move them to the present one",
      metadata: ["files": "\(used.joined(separator: " "))", "home": "\(home)"])
    return ssh
  }

  private func homeDirectory() -> String? {
    guard let entry = getpwuid(getuid()), let directory = entry.pointee.pw_dir else { return nil }
    return String(cString: directory)
  }

  private func absolute(_ path: String) -> String {
    if path.hasPrefix("/") { return path }
    guard let buffer = getcwd(nil, 0) else { return path }
    defer { free(buffer) }
    return String(cString: buffer) + "/" + path
  }
}
