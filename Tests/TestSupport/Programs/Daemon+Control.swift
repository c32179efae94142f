import Foundation
import Glibc

/// Commands of `transferctl` for the daemon.
extension Daemon {
  /// Runs `transferctl` to its end.
  @discardableResult
  public func ctl(
    _ arguments: String..., input: Data = Data(), timeout: Duration = .seconds(150)
  ) async throws -> ChildProcess.Result {
    var launch = try ctlLaunch(arguments)
    launch.input = input
    return try await launch.run(timeout: timeout)
  }

  /// Runs `transferctl` without waiting, for `watch`, `events --follow` and commands to be interrupted.
  public func ctlStarted(_ arguments: String...) throws -> ChildProcess {
    try ChildProcess(ctlLaunch(arguments))
  }

  /// Adds one job and returns its id as text; a refusal is thrown.
  public func add(_ arguments: String...) async throws -> String {
    try await printedID(["add"] + arguments)
  }

  /// Adds one upload and returns its id as text; a refusal is thrown.
  public func upload(_ arguments: String...) async throws -> String {
    try await printedID(["upload"] + arguments)
  }

  private func printedID(_ arguments: [String]) async throws -> String {
    let result = try await ctlLaunch(arguments).runSuccessfully()
    guard result.lines.count == 1, Int64(result.lines[0]) != nil else {
      throw TestSupportError.failed(program: "transferctl", reason: "printed no id but: \(result.stdout)")
    }
    return result.lines[0]
  }

  /// A job as `status --format json` prints it.
  ///
  /// Declared independently of the programs, so that a renamed field fails the tests.
  public struct StatusJob: Decodable, Sendable {
    public struct Failure: Decodable, Sendable {
      public let code: String
      public let message: String
      public let httpStatus: Int?
      public let transient: Bool
    }

    public let id: Int64
    public let kind: String
    public let phase: String?
    public let state: String
    public let source: String
    public let destination: String
    public let bytesDone: Int64
    public let bytesTotal: Int64?
    public let bytesPerSecond: Int64
    public let attempt: Int
    public let maxAttempts: Int
    public let retryAt: String?
    public let priority: Int
    public let batch: String?
    public let key: String?
    public let checksum: String?
    public let error: Failure?
    public let result: String?
    public let createdAt: String
    public let startedAt: String?
    public let finishedAt: String?
  }

  /// All jobs, or those that the arguments of `status` select.
  public func jobs(_ arguments: String...) async throws -> [StatusJob] {
    let result = try await ctlLaunch(["status", "--format", "json"] + arguments).runSuccessfully()
    return try JSONDecoder().decode([StatusJob].self, from: result.output)
  }

  /// The job with this id.
  ///
  /// Asked of the API, whose jobs are those of `status --format json`: a debug build of `transferctl` takes 80 ms of
  /// processor time, and hundreds of tests only look at a job.
  public func job(_ id: String) async throws -> StatusJob {
    let answer = Data(try await request("/v1/jobs/\(id)").receiveAll(timeout: .seconds(60)).utf8)
    guard answer.starts(with: Data("HTTP/1.1 200 ".utf8)), let head = answer.range(of: Data("\r\n\r\n".utf8)) else {
      throw TestSupportError.failed(
        program: "transferd", reason: "shows no job \(id): \(String(decoding: answer, as: UTF8.self))")
    }
    return try JSONDecoder().decode(StatusJob.self, from: Data(answer[head.upperBound...]))
  }

  /// Waits for the end of a job, completed or not, and returns it.
  public func finished(_ id: String, timeout: Duration = .seconds(150)) async throws -> StatusJob {
    // The stream begins before the look at the job, so that no end is missed.
    let ends = try request("/v1/events?jobs=\(id)&final=true")
    if try await ends.isHeard(": transferd", timeout) {
      if let job = try await ended(id) { return job }
      if try await ends.isHeard("\"job\":\(id),", timeout), let job = try await ended(id) { return job }
    }
    // It was another event, such as the deletion of an unfinished upload, or the daemon was stopped: `wait` waits for the
    // next one, too.
    _ = try await ctlLaunch(["wait", id]).run(timeout: timeout)
    return try await job(id)
  }

  private func ended(_ id: String) async throws -> StatusJob? {
    let job = try await job(id)
    return ["completed", "failed", "cancelled"].contains(job.state) ? job : nil
  }

  /// Suspends until the job's history, from its beginning, contains a text of its events as JSON.
  public func waitForHistory(_ text: String, of id: String, timeout: Duration = .seconds(120)) async throws {
    if try await request("/v1/events?jobs=\(id)&since=0").isHeard(text, timeout) { return }
    // The daemon was stopped; `events` follows the next one, too.
    let events = try ctlStarted("events", id, "--follow", "--format", "json")
    try await events.waitForOutput(text, timeout: timeout)
    events.signalGroup(SIGKILL)
  }

  /// Asks the control API for something. The connection ends with the response.
  private func request(_ target: String) throws -> SocketClient {
    let client = try SocketClient(socketPath)
    client.send("GET \(target) HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
    return client
  }
}

extension SocketClient {
  /// Suspends until the text was received, or the connection has ended without it: `false`.
  fileprivate func isHeard(_ text: String, _ timeout: Duration) async throws -> Bool {
    try await heard.wait(for: "\"\(text)\"", timeout: timeout) {
      $0.text.contains(text) ? true : $0.isAtEnd ? false : nil
    }
  }
}
