import ArgumentParser
import TransferAPI

/// Runs a verb: sends it, prints the outcome, and fails with the status of the first problem.
enum VerbRun {
  static func run(
    _ verb: JobVerb, _ jobs: SelectorOptions, _ daemon: ConnectionOptions, _ owner: OwnerOptions
  ) async throws {
    guard let selector = try jobs.selector() else { throw CommandFailure(.usage, "no jobs are named") }
    let outcome = try await daemon.connection(of: owner).open().apply(verb, to: selector)
    for line in lines(verb, outcome) { Notice.say(line) }
    if let first = outcome.problems.first { throw CommandFailure(ExitStatus(first.problem.code)) }
  }

  static func lines(_ verb: JobVerb, _ outcome: VerbOutcome) -> [String] {
    var lines = outcome.problems.map { words($0.problem, about: $0.id) }
    if outcome.changed > 0 || outcome.problems.isEmpty {
      lines.append(done(verb, HumanNumbers.jobs(outcome.changed)))
    }
    if let again = outcome.sentAgain, again > 0 {
      lines.append(
        "sent \(HumanNumbers.jobs(again)) again whose outcome was unknown; the server may have the file already")
    }
    let skipped = outcome.skipped - outcome.problems.count
    if skipped > 0 {
      lines.append("skipped \(HumanNumbers.jobs(skipped)), whose state does not allow \(verb.rawValue)")
    }
    return lines
  }

  /// The daemon's message, with the job's id if the message lacks it.
  static func words(_ problem: Problem, about id: JobID) -> String {
    let words = problem.text.namingOptions
    return words.contains("job \(id)") ? words : "job \(id): \(words)"
  }

  private static func done(_ verb: JobVerb, _ jobs: String) -> String {
    switch verb {
    case .pause: "paused \(jobs)"
    case .resume: "resumed \(jobs)"
    case .cancel: "cancelled \(jobs)"
    case .retry: "queued \(jobs) again"
    case .remove: "removed \(jobs)"
    }
  }
}
