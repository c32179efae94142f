import FoundationEssentials
import Logging
import Store
import Synchronization
import TransferEngine

/// The parts of a running daemon, each made once.
struct DaemonParts: Sendable {
  let setup: ProcessSetup
  let store: Store
  let hub: EventHub
  let session: Session
  let network: NetworkRules
  let paths: PathPolicy
  let storage: StorageRules
  let followUps: FollowUpRunner
  let scheduler: Scheduler
  let intake: JobIntake
  let history: HistoryPruner
  let limits: LimitControl
  let folders: Folders
  let batchEnds: BatchEndWatch
  let space: RelaySpace
  private let batchEndSignal: AsyncStream<Void>.Continuation

  /// Opens the store, recovers the jobs that the last run interrupted, and then makes all other parts.
  /// - Parameters:
  ///   - lock: shows waiting clients what the daemon is doing during its start.
  ///   - notifier: reports the same to the service manager.
  init(in setup: ProcessSetup, lock: SingleInstance, notifier: ServiceNotifier) async throws {
    self.setup = setup
    let (configuration, logger) = (setup.configuration, setup.logger)
    let (signals, signal) = AsyncStream<Void>.makeStream(bufferingPolicy: .bufferingNewest(1))
    batchEndSignal = signal
    let (store, hub, paths) = try await Self.recovered(setup, lock, notifier, signal)
    (self.store, self.hub, self.paths) = (store, hub, paths)
    session = try await setup.session(store)
    network = NetworkRules(configuration.network)
    storage = StorageRules(configuration.storage)
    let runner = JobRunner(
      session: session, store: store,
      secrets: SecretResolver(environment: setup.environment, home: ProcessSetup.homeDirectory()),
      stateDirectory: setup.state, network: network, paths: paths,
      groupedDownloads: GroupedDownloads(session: session, store: store),
      groupedUploads: GroupedUploads(session: session), bandwidth: JobBandwidth(session), storage: storage)
    runner.space.setLimit(configuration.storage.spoolMax)
    space = runner.space
    followUps = FollowUpRunner(store: store, runner: runner, hooks: configuration.limits.hooks, logger: logger)
    batchEnds = BatchEndWatch(store: store, followUps: followUps, logger: logger, signals: signals)
    scheduler = Scheduler(
      store: store, limits: setup.bounded(configuration.limits),
      governor: OriginGovernor(stored: try await store.origins(), now: Date()), logger: logger, runner: runner,
      followUpRunner: followUps)
    intake = JobIntake(store: store, scheduler: scheduler, paths: paths, network: network, spools: runner.spools)
    folders = Folders(store: store, intake: intake, logger: logger)
    history = HistoryPruner(store: store, hub: hub, days: configuration.historyDays, logger: logger)
    limits = LimitControl(
      store: store, scheduler: scheduler, bandwidth: runner.bandwidth, settings: configuration.limitSettings,
      logger: logger, bounded: { setup.bounded($0) })
    try await limits.load()
    try await scheduler.loadBatchLimits()
    try await scheduler.loadQuota()
    try await scheduler.loadBlockingUploads()
    try await scheduler.loadCrashMarks()
    try await scheduler.loadDependencies()
    try await scheduler.loadRelays()
  }

  /// Opens the store and recovers every job that was running when the last run ended.
  private static func recovered(
    _ setup: ProcessSetup, _ lock: SingleInstance, _ notifier: ServiceNotifier,
    _ signal: AsyncStream<Void>.Continuation
  ) async throws -> (Store, EventHub, PathPolicy) {
    let logger = setup.logger
    let crashes = crashMarks(in: setup.state, logger)
    LogFile.current.withLock { $0 = LogFile(path: setup.state + "/transferd.log") }
    let hub = EventHub()
    let store = try Store(
      directory: setup.state, now: Date(),
      onMigration: { migration in
        logger.notice(
          "migrating the database to this release's format",
          metadata: ["from": "\(migration.from)", "to": "\(migration.to)", "jobs": "\(migration.jobs)"])
        let status = "migrating its database with \(migration.jobs) jobs to this release's format"
        lock.tell(status)
        // sd_notify(3): the start may take this much longer.
        notifier.send("STATUS=\(status)\nEXTEND_TIMEOUT_USEC=3600000000")
      }, onEvents: { hub.publish($0) })
    lock.tell(nil)
    if let reason = store.rewriteFailure {
      logger.warning(
        "the database could not be rewritten: its unused space may still contain secrets of removed jobs",
        metadata: ["reason": "\(reason)"])
    }
    setup.configuration.limits.hooks.apply(to: store, logger) { signal.yield() }
    // Ends of the last run may not be reported.
    signal.yield()
    let paths = setup.pathPolicy()
    let relays = RelaySpool(stateDirectory: setup.state)
    do { try relays.prepare() } catch { logger.warning("relays have no spool", metadata: ["error": "\(error)"]) }
    try await Recovery.perform(
      in: store, paths: paths, relays: relays, mark: crashes?.previous, hooks: setup.configuration.limits.hooks,
      logger: logger,
      now: Date())
    // The rows are durable. If the mark cannot be cleared, it is not counted again, because the store has recorded its
    // run.
    do { try crashes?.clear() } catch { logger.warning("cannot clear a crash mark", metadata: ["error": "\(error)"]) }
    // The copies of relays that have ended, and of jobs that are not in the database.
    relays.sweep(known: try await store.spools())
    return (store, hub, paths)
  }

  /// Makes later crashes leave a mark. `nil` if that is not possible: the daemon runs without marks.
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

  /// Reads the configuration again, for everything that can change while jobs run.
  /// - Throws: if the configuration cannot be used; then nothing has changed.
  func reload() async throws {
    let fresh = try DaemonConfiguration.load(setup.flags, environment: setup.environment)
    network.set(fresh.network)
    storage.set(fresh.storage)
    space.setLimit(fresh.storage.spoolMax)
    await scheduler.storageChanged()
    await limits.reload(fresh.limitSettings)
    history.setRetention(days: fresh.historyDays)
    ChildEnvironment.pass(fresh.passEnvironment)
    paths.set(fresh.memberRoots, files: setup.namedFiles(fresh))
    await followUps.setHooks(fresh.limits.hooks)
    let signal = batchEndSignal
    fresh.limits.hooks.apply(to: store, setup.logger) { signal.yield() }
    setup.logger.notice("configuration reloaded")
  }

  /// The parts of the daemon that the control API uses.
  /// - Parameter requestStop: ends the daemon.
  func services(requestStop: @escaping @Sendable () -> Void) -> DaemonServices {
    DaemonServices(
      store: store, scheduler: scheduler, intake: intake, limits: limits, folders: folders, storage: storage,
      hub: hub, startedAt: Date(), stateDirectory: setup.state, logger: setup.logger, requestStop: requestStop,
      reload: { try await reload() })
  }
}
