import ArgumentParser
import FoundationEssentials
import Glibc
import TransferAPI

struct DaemonCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "daemon", abstract: "Start, stop, reload or inspect the daemon.",
    subcommands: [Start.self, Stop.self, StatusOfDaemon.self, Reload.self])

  struct Start: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "start", abstract: "Start the daemon unless it is already running.")
    @OptionGroup var daemon: ConnectionOptions

    func run() async throws {
      let connection = try daemon.connection()
      if let client = try await connection.find() {
        return Notice.say("transferd is already running (pid \(try await client.stats().pid))")
      }
      // An explicit request overrides --no-autostart and TRANSFERCTL_NO_AUTOSTART.
      let client = try await connection.start()
      Notice.say("started transferd (pid \(try await client.stats().pid)) on \(client.socket)")
    }
  }

  struct Stop: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "stop", abstract: "Stop the daemon; its jobs continue when it is started again.")
    @OptionGroup var daemon: ConnectionOptions

    func run() async throws {
      let connection = try daemon.connection()
      guard let client = try await connection.find() else {
        // Stopping a daemon that is not running succeeds, unless the user named the daemon: then the status is 3.
        guard !connection.locations.isSocketExplicit, connection.mayStart else {
          throw CommandFailure(.unreachable, "transferd is not running")
        }
        return Notice.say("transferd is not running")
      }
      var pid: Int32?
      do {
        pid = try await client.stats().pid
        try await client.post("/v1/daemon:stop")
      } catch ControlError.unreachable {
        // Another command has just stopped it.
      }
      let name = pid.map { "transferd (pid \($0))" } ?? "transferd"
      // The daemon has 5 s to stop (docs/cli.md). Its lock is released with the process, not with the socket.
      let deadline = ContinuousClock.now + .seconds(15)
      while ContinuousClock.now < deadline {
        // Check the process first: connecting to a server that is closing delays it.
        if pid.map(Self.hasEnded) ?? true, try await connection.probe(client) == .unused {
          return Notice.say("stopped \(name)")
        }
        try await Task.sleep(for: .milliseconds(20))
      }
      throw CommandFailure(.failed, "cannot stop \(name): it is still running after 15 s; see its log")
    }

    /// A zombie has ended; only its parent has not noticed yet. proc_pid_stat(5)
    private static func hasEnded(_ pid: Int32) -> Bool {
      if kill(pid, 0) != 0 { return errno == ESRCH }
      guard let status = try? String(contentsOfFile: "/proc/\(pid)/stat", encoding: .utf8),
        let state = status.lastIndex(of: ")").map({ status[$0...].dropFirst(2).first })
      else { return true }
      return state == "Z" || state == "X"
    }
  }

  struct StatusOfDaemon: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "status", abstract: "Show whether the daemon is running, and the number of its jobs.")
    @OptionGroup var daemon: ConnectionOptions

    @Option(help: "The output format.")
    var format = DetailFormat.text

    func run() async throws {
      var connection = try daemon.connection()
      // A question must not start the daemon.
      connection.mayStart = false
      guard let client = try await connection.find() else {
        throw CommandFailure(.unreachable, "transferd is not running")
      }
      let stats = try await client.stats()
      guard format == .text else { return try Output.standard.line(try json(stats)) }
      var rows = [
        ("pid", String(stats.pid)), ("version", stats.version), ("socket", client.socket),
        ("state", stats.stateDirectory), ("started", WireCoding.rfc3339(stats.startedAt)),
        ("max active", "\(stats.maxActive), \(stats.maxPerOrigin) per origin"),
        ("rate", HumanNumbers.rate(stats.bytesPerSecond)), ("jobs", String(stats.counts.total)),
      ]
      for state in JobState.allCases { rows.append((state.rawValue, String(stats.counts[state]))) }
      try Output.standard.lines(DetailText.aligned(rows))
    }
  }

  struct Reload: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "reload", abstract: "Make the daemon read its configuration again.")
    @OptionGroup var daemon: ConnectionOptions

    func run() async throws {
      guard let client = try await daemon.connection().find() else {
        throw CommandFailure(.unreachable, "transferd is not running")
      }
      let stats: Stats = try await client.post("/v1/daemon:reload", nil)
      Notice.say("reloaded: at most \(stats.maxActive) active, \(stats.maxPerOrigin) per origin")
    }
  }
}
