import Foundation
import Synchronization
import TestSupport

extension Daemon {
  /// Adds a paused job and returns its id.
  func addPaused(_ name: String, _ arguments: String...) async throws -> String {
    try await run(["add", "http://127.0.0.1:9/\(name)", "--paused"] + arguments).lines.first ?? ""
  }

  /// Runs `transferctl` with an array of arguments.
  func run(
    _ arguments: [String], input: Data = Data(), timeout: Duration = .seconds(60)
  ) async throws -> ChildProcess.Result {
    var launch = try ctlLaunch(arguments)
    launch.input = input
    return try await launch.run(timeout: timeout)
  }

  /// A response of the control API.
  struct Answer {
    var status: Int
    var head: String
    var body: String

    var json: [String: Any] {
      (try? JSONSerialization.jsonObject(with: Data(body.utf8))) as? [String: Any] ?? [:]
    }
    /// The stable code of a problem.
    var code: String? { json["code"] as? String }
  }

  /// Sends a request to the control API with curl.
  func curl(_ path: String, _ arguments: String..., input: Data = Data()) async throws -> Answer {
    try await curl(path, arguments, input: input)
  }

  func curl(_ path: String, _ arguments: [String], input: Data) async throws -> Answer {
    var launch = try curlLaunch(path, ["-i", "--max-time", "20", "-H", "Expect:"] + arguments)
    launch.input = input
    let result = try await launch.run()
    let text = result.stdout.replacingOccurrences(of: "\r", with: "")
    let parts = text.components(separatedBy: "\n\n")
    let words = text.split(separator: " ", maxSplits: 2)
    return Answer(
      status: words.count > 1 ? Int(words[1]) ?? 0 : 0, head: parts[0].lowercased(),
      body: parts.dropFirst().joined(separator: "\n\n"))
  }

  func curlLaunch(_ path: String, _ arguments: [String]) throws -> Launch {
    Launch(
      try BuiltPrograms.system("curl"),
      ["-sS", "-N", "--unix-socket", socketPath, "http://transferd\(path)"] + arguments)
  }

  /// The daemon's resident memory in bytes.
  var residentBytes: Int {
    guard let pid, let text = try? String(contentsOfFile: "/proc/\(pid)/status", encoding: .utf8),
      let line = text.split(separator: "\n").first(where: { $0.hasPrefix("VmRSS:") })
    else { return 0 }
    return (Int(line.filter(\.isNumber)) ?? 0) * 1024
  }
}

/// A server that records the time of each request.
struct TimedServer {
  let server: LoopbackServer
  private let times: Times

  private final class Times: Sendable {
    let list = Mutex<[ContinuousClock.Instant]>([])
  }

  init(_ behaviour: FileBehaviour) throws {
    let times = Times()
    let handler = behaviour.handler()
    self.times = times
    server = try LoopbackServer { request in
      times.list.withLock { $0.append(.now) }
      return handler(request)
    }
  }

  /// Seconds between the first request and the one with this number, counted from 0.
  func delay(of number: Int) -> Double {
    times.list.withLock { $0.count > number ? ($0[number] - $0[0]).inSeconds : -1 }
  }
}

/// A user with separate directories and no daemon. A daemon that `transferctl` starts for the user ends with the object.
final class FreshUser: Sendable {
  let directory: TemporaryDirectory
  let state: String
  let runtime: String
  let downloads: String

  init() throws {
    directory = try TemporaryDirectory()
    state = directory.path("state")
    runtime = try directory.directory("run")
    downloads = try directory.directory("downloads")
    chmod(runtime, 0o700)
  }

  deinit {
    guard let pid = daemonPID else { return }
    kill(pid, SIGKILL)
  }

  /// The process whose command line contains the state directory.
  var daemonPID: pid_t? {
    guard let text = try? String(contentsOfFile: state + "/transferd.lock", encoding: .utf8),
      let pid = pid_t(text.trimmingCharacters(in: .whitespacesAndNewlines)),
      let command = try? String(contentsOfFile: "/proc/\(pid)/cmdline", encoding: .utf8),
      command.contains(state)
    else { return nil }
    return pid
  }

  /// Runs in `/` without HOME and PATH: even less than cron provides.
  func launch(_ arguments: [String], environment: [String: String] = [:]) throws -> Launch {
    let own = ["TRANSFERD_STATE_DIR": state, "XDG_RUNTIME_DIR": runtime, "TRANSFERCTL_ANSWER_TIMEOUT": "60"]
    return Launch(
      try BuiltPrograms.path("transferctl"), arguments, environment: own.merging(environment) { $1 },
      directory: "/")
  }

  func ctl(_ arguments: String..., environment: [String: String] = [:]) async throws -> ChildProcess.Result {
    try await launch(arguments, environment: environment).run()
  }
}
