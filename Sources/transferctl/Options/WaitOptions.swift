import ArgumentParser
import TransferAPI

/// The options of `add` and `upload` for waiting.
struct WaitOptions: ParsableArguments {
  @Flag(help: "Wait until the jobs have ended; exit 0 only if all completed.")
  var wait = false

  @Option(
    help: ArgumentHelp("Stop waiting after this time; the jobs continue.", valueName: "time"),
    transform: { try TimeSpan(parsing: $0) })
  var timeout: TimeSpan?

  func validate() throws {
    if timeout != nil, !wait { throw ValidationError("--timeout needs --wait.") }
  }

  /// Waits for the added jobs if requested.
  /// - Parameters:
  ///   - failure: the status for the first job that was not added.
  ///   - beginning: the number of the newest event before the jobs were added, if it was read.
  ///   - target: what is waited for; `nil`: the added jobs.
  /// - Throws: `CommandFailure` with the status of the command unless all jobs were added and, if awaited, completed.
  func finish(
    _ outcome: Submission, _ failure: ExitStatus?, _ connection: Connection, beginning: Int64?,
    target: WaitTarget? = nil
  ) async throws {
    if wait, !outcome.ids.isEmpty {
      let end = try await Waiter(
        target ?? .ids(SelectorOptions.unique(outcome.ids)), connection: connection,
        beginning: outcome.hasExisting ? nil : beginning, announcesEnded: !outcome.hasExisting
      ).run(from: outcome.client, timeout: timeout?.duration)
      if end == .timedOut || failure == nil, end != .done { throw CommandFailure(end) }
    }
    if let failure { throw CommandFailure(failure) }
  }
}
