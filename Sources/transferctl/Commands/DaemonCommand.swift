import ArgumentParser
import FoundationEssentials
import Glibc
import TransferAPI

struct DaemonCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "daemon", abstract: "Start, stop or ask the daemon.",
    subcommands: [Start.self, Stop.self, StatusOfDaemon.self, Reload.self])

  struct Start: AsyncParsableCommand {
    static let configuration = CommandConfiguration(abstract: "Start the daemon unless it runs already.")
    @OptionGroup var daemon: ConnectionOptions

    func run() async throws {
      let connection = try daemon.connection()
      if let client = try await connection.find() {
        return Notice.say("transferd runs already (pid \(try await client.stats().pid))")
      }
      // Somebody who asks for it by name wants it, whatever else is forbidden to start it.
      let client = try await connection.start()
      Notice.say("started transferd (pid \(try await client.stats().pid)) on \(client.socket)")
    }
  }

  struct Stop: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      abstract: "Stop the daemon; jobs go on when it is started again.")
    @OptionGroup var daemon: ConnectionOptions

    func run() async throws {
      let connection = try daemon.connection()
      guard let client = try await connection.find() else {
        // To stop what does not run is no failure, but for who named a daemon that is not there: the contract's 3.
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
        // Somebody else told it so a moment ago.
      }
      let name = pid.map { "transferd (pid \($0))" } ?? "transferd"
      // The contract gives it 5 s; its lock goes with the process, not with the socket.
      let deadline = ContinuousClock.now + .seconds(15)
      while ContinuousClock.now < deadline {
        // The process first: knocking at a server that is closing its door only makes its work harder.
        if pid.map(Self.hasEnded) ?? true, try await connection.probe(client) == .nobody {
          return Notice.say("stopped \(name)")
        }
        try await Task.sleep(for: .milliseconds(20))
      }
      throw CommandFailure(.failed, "\(name) was told to stop, but it still runs")
    }

    /// A process that only waits for its parent to notice has ended. proc_pid_stat(5)
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
      commandName: "status", abstract: "Show whether the daemon runs, and what it has to do.")
    @OptionGroup var daemon: ConnectionOptions

    @Option(help: "For people, or as JSON.")
    var format = DetailFormat.text

    func run() async throws {
      var connection = try daemon.connection()
      // Whoever asks whether it runs wants to know now.
      connection.mayStart = false
      guard let client = try await connection.find() else {
        throw CommandFailure(.unreachable, "transferd is not running")
      }
      let stats = try await client.stats()
      guard format == .text else { return try Output.standard.line(try json(stats)) }
      var rows = [
        ("pid", String(stats.pid)), ("version", stats.version), ("socket", client.socket),
        ("state", stats.stateDirectory), ("started", WireCoding.rfc3339(stats.startedAt)),
        ("active at most", "\(stats.maxActive), \(stats.maxPerOrigin) an origin"),
        ("rate", HumanNumbers.rate(stats.bytesPerSecond)), ("jobs", String(stats.counts.total)),
      ]
      for state in JobState.allCases { rows.append((state.rawValue, String(stats.counts[state]))) }
      for line in DetailText.aligned(rows) { try Output.standard.line(line) }
    }
  }

  struct Reload: AsyncParsableCommand {
    static let configuration = CommandConfiguration(abstract: "Let the daemon read its configuration again.")
    @OptionGroup var daemon: ConnectionOptions

    func run() async throws {
      guard let client = try await daemon.connection().find() else {
        throw CommandFailure(.unreachable, "transferd is not running")
      }
      let stats: Stats = try await client.post("/v1/daemon:reload", nil)
      Notice.say("reloaded: \(stats.maxActive) active at most, \(stats.maxPerOrigin) an origin")
    }
  }
}
