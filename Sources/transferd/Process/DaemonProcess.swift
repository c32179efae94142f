import FoundationEssentials
import Glibc
import Logging
import Store
import Threads
import TransferEngine

/// The daemon from start to end: lock, store, recovery, socket, jobs, until a signal.
struct DaemonProcess: Sendable {
  let flags: DaemonConfiguration.Flags
  let socket: String?
  let stateDirectory: String?
  /// SIGTERM and SIGINT end the daemon, SIGHUP makes it read the configuration again.
  let signals: SignalSequence

  /// The longest time that a stop takes, in seconds, whatever the disks do.
  static let stopLimit = 4.5

  /// Returns only with an error: the process ends when the daemon stops.
  func run() async throws {
    let setup = try ProcessSetup(flags: flags, socket: socket, stateDirectory: stateDirectory)
    try StateDirectory.prepare(setup.state, mustBePrivate: true)
    let lock = try SingleInstance(directory: setup.state)
    defer { withExtendedLifetime(lock) {} }
    let notifier = ServiceNotifier(environment: setup.environment)
    try await serve(try await DaemonParts(in: setup, lock: lock, notifier: notifier), notifier)
  }

  /// Runs every part of the daemon until something asks for a stop.
  private func serve(_ parts: DaemonParts, _ notifier: ServiceNotifier) async throws {
    let signals = signals.listen()
    let (stops, stopping) = AsyncStream<String>.makeStream()
    let (readiness, ready) = AsyncStream<Void>.makeStream()
    let services = parts.services(requestStop: { stopping.yield("the control API") })
    let server = ControlServer(
      path: parts.setup.socket, daemon: services, access: try parts.setup.access(),
      maximumClients: parts.setup.descriptors.clients, logger: parts.setup.logger)
    let status = ServiceStatus(notifier: notifier, session: parts.session, store: parts.store, hub: parts.hub)
    let network = NetworkWatch(scheduler: parts.scheduler, logger: parts.setup.logger)
    await withTaskGroup(of: Void.self) { group in
      group.addTask { await Self.listen(server, notifier) { ready.yield() } }
      group.addTask { for await _ in readiness { await Self.begin(parts, services) } }
      // These tasks end when the daemon begins to stop. The server continues, because it must still respond to the
      // request to stop.
      await withTaskGroup(of: Void.self) { group in
        group.addTask { await Self.obey(signals, parts, notifier) { stopping.yield($0) } }
        group.addTask { await status.run() }
        group.addTask(priority: .background) { await parts.history.run() }
        group.addTask(priority: .background) { await network.run() }
        group.addTask(priority: .background) { await parts.batchEnds.run() }
        group.addTask(priority: .background) { await InterfaceWatch(scheduler: parts.scheduler).run() }
        group.addTask(priority: .background) {
          for await _ in ClockChanges.stream() {
            await parts.scheduler.clockChanged()
            await parts.limits.clockChanged()
            await parts.followUps.clockChanged()
          }
        }
        for await reason in stops {
          parts.setup.logger.notice("transferd is stopping", metadata: ["reason": "\(reason)"])
          group.cancelAll()
          await Self.stop(parts, notifier)
        }
      }
    }
  }

  /// Serves the control socket. An error ends the process, because the daemon cannot be used without the socket.
  private static func listen(
    _ server: ControlServer, _ notifier: ServiceNotifier, onReady: @escaping @Sendable () -> Void
  ) async {
    do {
      try await server.run {
        notifier.send("READY=1\nSTATUS=ready")
        server.logger.notice("transferd is ready", metadata: ["socket": "\(server.path)", "pid": "\(getpid())"])
        // Requests are answered when this returns: they do not wait for the disk.
        onReady()
      }
    } catch is CancellationError {
    } catch {
      server.logger.critical("cannot serve the control socket", metadata: ["error": "\(error)"])
      StandardError.write("transferd: \(error)\n")
      exit(1)
    }
  }

  /// Starts the jobs and the follow-up actions that are due.
  private static func begin(_ parts: DaemonParts, _ services: DaemonServices) async {
    await parts.scheduler.checkTimesFirst()
    await parts.scheduler.resolveDependencies()
    await parts.scheduler.wake()
    await parts.followUps.start()
    await parts.folders.start()
    await services.sweepSpools()
    await parts.scheduler.releaseMemory()
  }

  /// SIGHUP reloads the configuration; the other signals ask for a stop.
  private static func obey(
    _ signals: AsyncStream<Int32>, _ parts: DaemonParts, _ notifier: ServiceNotifier,
    onStop: @Sendable (String) -> Void
  ) async {
    for await signal in signals {
      guard signal == SIGHUP else {
        onStop(SignalSequence.name(signal))
        continue
      }
      notifier.send("RELOADING=1")
      do {
        try await parts.reload()
      } catch {
        parts.setup.logger.error("cannot reload", metadata: ["error": "\(error)"])
      }
      notifier.send("READY=1")
    }
  }

  /// Makes the progress of running jobs durable and ends the process.
  ///
  /// The server is not shut down in an orderly way: its clients see their connections end, as after a kill. Everything
  /// that a response has confirmed is stored.
  private static func stop(_ parts: DaemonParts, _ notifier: ServiceNotifier) async -> Never {
    notifier.send("STOPPING=1")
    exitAfterStopLimit()
    unlink(parts.setup.socket)
    await parts.scheduler.shutdown()
    await parts.store.close()
    parts.setup.logger.notice("transferd has stopped")
    _exit(0)
  }

  /// Starts a thread that ends the process after ``stopLimit``, so that a disk that does not respond cannot prevent the
  /// end of the service. Bytes that have no checkpoint by then are fetched again.
  private static func exitAfterStopLimit() {
    var thread = pthread_t()
    pthread_create(
      &thread, nil,
      { _ in
        usleep(UInt32(DaemonProcess.stopLimit * 1_000_000))
        _exit(0)
      }, nil)
  }
}
