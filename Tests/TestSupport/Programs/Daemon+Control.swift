import Foundation

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
  public func job(_ id: String) async throws -> StatusJob {
    let result = try await ctlLaunch(["status", id, "--format", "json"]).runSuccessfully()
    guard let job = try JSONDecoder().decode([StatusJob].self, from: result.output).first else {
      throw TestSupportError.failed(program: "transferctl", reason: "status shows no job \(id)")
    }
    return job
  }

  /// Waits for the end of a job, completed or not, and returns it.
  public func finished(_ id: String, timeout: Duration = .seconds(150)) async throws -> StatusJob {
    _ = try await ctlLaunch(["wait", id]).run(timeout: timeout)
    return try await job(id)
  }
}
